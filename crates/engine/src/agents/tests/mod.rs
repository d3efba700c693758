mod invocations;
mod streams;
