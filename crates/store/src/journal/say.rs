//! The journal's problems in the languages of people.
