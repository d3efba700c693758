use super::host::Reach;
use super::parse;

#[test]
fn every_spelling_of_an_address_is_that_address() {
    for (url, want) in [
        ("http://127.0.0.1/", Reach::Loopback),
        ("http://2130706433/", Reach::Loopback),
        ("http://0x7f000001/", Reach::Loopback),
        ("http://017700000001/", Reach::Loopback),
        ("http://127.1/", Reach::Loopback),
        ("http://0x7f.1/", Reach::Loopback),
        ("http://0/", Reach::Loopback),
        ("http://[::1]/", Reach::Loopback),
        ("http://[::ffff:127.0.0.1]/", Reach::Loopback),
        ("http://[::7f00:1]/", Reach::Loopback),
        ("http://[64:ff9b::a00:1]/", Reach::Private),
        ("http://[2002:a00:1::]/", Reach::Private),
        ("http://[fe80::1%25eth0]/", Reach::Private),
        ("http://[fec0::1]/", Reach::Private),
        ("http://[fd12:3456::1]/", Reach::Private),
        ("http://169.254.169.254/latest", Reach::Metadata),
        ("http://0xa9fea9fe/", Reach::Metadata),
        ("http://①②⑦.⓪.⓪.①/", Reach::Loopback),
        ("http://１２７.０.０.１/", Reach::Loopback),
        ("http://127。0。0。1/", Reach::Loopback),
        ("http://127%2e0%2e0%2e1/", Reach::Loopback),
        ("http://example.com@127.0.0.1/", Reach::Loopback),
        ("http:\\\\localhost\\x", Reach::Loopback),
        ("http:///localhost/", Reach::Loopback),
        ("http://lo\tcalhost/", Reach::Loopback),
        ("http://localhost./", Reach::Loopback),
        ("http://app.localhost/", Reach::Loopback),
        ("localhost:3000", Reach::Loopback),
        ("http://10.0.0.1.nip.io/", Reach::Private),
        ("http://172.20.1.1/", Reach::Private),
        ("http://172.32.1.1/", Reach::Public),
        ("http://100.64.0.1/", Reach::Private),
        ("http://metadata.google.internal/", Reach::Metadata),
        ("https://docs.rs/serde/1.0.10.0/", Reach::Public),
        ("https://10.example.com/", Reach::Public),
        ("https://localhost.example.com/", Reach::Public),
        ("https://127.0.0.1.example.com/", Reach::Public),
        ("https://8.8.8.8/", Reach::Public),
        ("https://notlocalhost.com/", Reach::Public),
        ("http://redis/", Reach::LocalName),
    ] {
        let reach = parse(url).map(|url| url.host.reach());
        assert_eq!(reach, Some(want), "{url}");
    }
}
