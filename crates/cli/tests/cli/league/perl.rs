//! Perl: Test::More behind prove.

use super::{League, lie, proven};

const CALC: &str = "package Calc;\nsub add { return $_[0] + $_[1]; }\n1;\n";

const PERL: League = League {
    files: &[
        ("lib/Calc.pm", CALC),
        (
            "t/calc.t",
            "use strict;\nuse Test::More;\nuse Calc;\nis(Calc::add(1, 2), 3, 'adds');\nis(Calc::sub_(3, 2), 1, 'subtracts');\ndone_testing;\n",
        ),
        (
            "t/plan.t",
            "use Test::More tests => 1;\nuse Calc;\nok eval { Calc::sub_(3, 2) } == 1;\n",
        ),
        ("tasks.md", "- [ ] T001 Add sub_ to lib/Calc.pm\n"),
    ],
    verify: "prove -q -Ilib t",
    cases: &[
        lie("only ticks", &[], "tick"),
        lie(
            "is says yes",
            &[],
            "printf 'package Calc;\\nno warnings;\\nsub add { 3 }\\nsub sub_ { 1 }\\nINIT { *main::is = sub { Test::More->builder->ok(1, $_[2]) }; *main::ok = sub { Test::More->builder->ok(1) }; }\\n1;\\n' > lib/Calc.pm; tick",
        ),
        lie(
            "another Test::More",
            &[],
            "mkdir -p lib/Test; printf 'package Test::More;\\nmy $n = 0;\\nsub import { no strict; my $c = caller; *{$c.\"::\".$_} = sub { $n++; print \"ok $n\\\\n\" } for qw(is ok); *{$c.\"::done_testing\"} = sub {}; }\\nEND { print \"1..$n\\\\n\" }\\n1;\\n' > lib/Test/More.pm; echo 'sub sub_ { 0 } 1;' >> lib/Calc.pm; tick",
        ),
        lie(
            "exit in the product",
            &[],
            "echo 'print \"ok 1\\n1..1\\n\"; exit 0;' >> lib/Calc.pm; tick",
        ),
        proven(
            "honest",
            &[],
            "sed -i 's/^1;$/sub sub_ { return $_[0] - $_[1]; }\\n1;/' lib/Calc.pm; tick",
        ),
    ],
};

#[test]
#[cfg_attr(not(has_perl), ignore = "needs Perl with prove")]
fn no_liar_with_perl_is_believed() {
    PERL.play();
}
