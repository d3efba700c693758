//! Texts for people: English in the code, every other language in
//! `texts/<language>/<area>.po` of the crate that speaks, held complete by the
//! compiler.
