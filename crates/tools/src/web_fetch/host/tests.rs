use super::*;

#[test]
fn a_host_is_allowed_by_name_and_port() {
    let (public, here) = (Some(Reach::Public), Some(Reach::Loopback));
    let only = |address: &str| Some(Reach::Only(address.parse().unwrap()));
    for (entry, url, expected) in [
        ("example.org", "https://example.org/a", public),
        ("Example.org", "http://EXAMPLE.org", public),
        ("example.org", "https://example.org:8443/", None),
        ("example.org:8443", "https://example.org:8443/", public),
        ("example.org:8443", "https://example.org/", None),
        ("example.org:443", "https://example.org/", public),
        ("example.org:443", "http://example.org/", None),
        ("example.org", "https://a.example.org/", None),
        ("*.example.org", "https://a.b.example.org/", public),
        ("*.example.org", "https://example.org/", None),
        ("*.example.org", "https://badexample.org/", None),
        ("example.org", "https://example.org.evil.test/", None),
        ("localhost:80", "http://localhost/", here),
        ("*.localhost", "http://a.localhost/", public),
        ("127.0.0.1:99", "http://127.0.0.1:99/", only("127.0.0.1")),
        ("127.0.0.1", "http://2130706433/", only("127.0.0.1")),
        ("*.0.0.1", "http://127.0.0.1/", None),
        ("127.0.0.1", "http://[::ffff:127.0.0.1]/", None),
        ("[::1]:80", "http://[::1]:80/", only("::1")),
        ("::1", "http://[::1]/", only("::1")),
        ("", "https://example.org/", None),
    ] {
        assert_eq!(allow(entry, &Url::parse(url).unwrap()), expected, "{entry} {url}");
    }
}

#[test]
fn a_name_reaches_public_addresses_only() {
    let check = |reach: Reach, addresses: &[&str]| {
        let addresses = addresses.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 80));
        reach.check(&addresses.collect::<Vec<_>>()).map_err(|private| private.0.to_string())
    };
    for public in ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "::ffff:8.8.8.8"] {
        assert_eq!(check(Reach::Public, &[public]), Ok(()), "{public}");
    }
    for private in [
        "0.0.0.0",
        "10.1.2.3",
        "100.100.100.200",
        "127.0.0.1",
        "127.9.9.9",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.8",
        "192.0.2.1",
        "192.168.1.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:10.0.0.1",
        "::7f00:1",
        "64:ff9b::a00:1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:a00:1::",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ] {
        assert_eq!(check(Reach::Public, &["93.184.216.34", private]), Err(private.to_owned()));
    }
    assert_eq!(check(Reach::Loopback, &["127.0.0.1", "::1"]), Ok(()));
    assert_eq!(check(Reach::Loopback, &["10.0.0.1"]), Err("10.0.0.1".to_owned()));
    let only = Reach::Only("10.0.0.1".parse().unwrap());
    assert_eq!(check(only, &["10.0.0.1"]), Ok(()));
    assert_eq!(check(only, &["10.0.0.2"]), Err("10.0.0.2".to_owned()));
}

#[test]
fn a_connection_is_refused_where_the_name_is_resolved() {
    let resolve = |reach| {
        let uri = "http://127.0.0.1:9/".parse().unwrap();
        Guard { reach }.resolve(&uri, &Config::default(), NextTimeout::default())
    };
    let error = resolve(Reach::Public).unwrap_err();
    let told = Private::of(&error).map(ToString::to_string);
    assert_eq!(told.as_deref(), Some("its address 127.0.0.1 is not a public one"));
    assert_eq!(resolve(Reach::Loopback).unwrap().len(), 1);
}
