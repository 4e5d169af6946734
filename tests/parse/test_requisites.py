"""What pages, styles, scripts and manifests need is read as browsers read it, in time that grows with their length."""

import time

import pytest

from evercrawl.parse.requisites import MOST, of_body, of_css, of_page, of_srcset

PAGE = b"""<base href=/d/><style>@import url("a.css"); b { c: url(i1.png) }</style>
<link rel="shortcut icon" href=i2.ico><link rel=canonical href=no1><link rel=preload as=font href=f1.woff2>
<link rel=manifest href=m.json><link rel=alternate href=no2>
<body background=i3.png><p style="background: url('i4.png')">
<picture><source srcset="i5.webp 1x, i6.webp 2x"><img src=i7.png data-src=i8.png></picture>
<video poster=i9.jpg src=v.mp4><track src=t.vtt></video><audio><source src=s.ogg></audio>
<input type=image src=i10.png><input src=no3><script src=s1.js></script><object data=o.svg></object><embed src=e.svg>
<svg><use href="u.svg#x"/><image xlink:href=i11.png></image></svg><img src="data:image/png;base64,AA==">
<a href=no4>x</a><noscript><img src=i12.png></noscript>"""


def names(urls: list[str]) -> set[str]:
    assert all(url.startswith("http://a.example/d/") for url in urls)
    return {url.rpartition("/")[2] for url in urls}


def test_what_a_page_needs_is_found_and_nothing_else():
    wanted = {"a.css", "i2.ico", "f1.woff2", "m.json", "v.mp4", "t.vtt", "s.ogg", "s1.js", "o.svg", "e.svg", "u.svg"}
    wanted |= {"i1.png", "i3.png", "i4.png", "i5.webp", "i6.webp", "i7.png", "i8.png", "i9.jpg"}
    wanted |= {"i10.png", "i11.png", "i12.png"}
    assert names(of_page(PAGE, "http://a.example/x/y")) == wanted


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("a { b: url(x\\29 y.png) }", ["x)y.png"]),
        ('@IMPORT URL("a.css") screen; @import\n"b.css" layer(x);', ["a.css", "b.css"]),
        ("a { content: '@import \"no.css\"' } /* url(no.png) */", []),
        ("a { b: url( ) url('') }", []),
        ("a { b: -webkit-image-set(url(a.png) 1x, 'b.png' 2x) } c { d: 'no.png' }", ["a.png", "b.png"]),
        ("a { b: image-set('a.avif' type('image/avif'), \"b.png\" 1x) }", ["a.avif", "b.png"]),
        ("@font-face { src: local('no'), url(f.woff2) format('woff2'), url(f.eot?#x) }", ["f.woff2", "f.eot?#x"]),
    ],
)  # fmt: skip
def test_styles_are_read_as_browsers_read_them(written, wanted):
    assert of_css(written) == wanted


def test_candidates_of_a_srcset():
    assert of_srcset("a.png 1x, b.png (max-width: 3px) 2x,c,d.png") == ["a.png", "b.png", "c,d.png"]
    assert of_srcset(" , ") == []


def test_scripts_manifests_and_drawings():
    script = (
        b"import a from '../m.js'\nimport {b,c}from\"./n.js\";export * from '/o.js';import('./p.js');x='import ./no.js'"
    )
    assert of_body(script, "http://a.example/d/e/s.js", "text/javascript") == [
        "http://a.example/d/m.js", "http://a.example/d/e/n.js", "http://a.example/o.js", "http://a.example/d/e/p.js",
    ]  # fmt: skip
    manifest = b'{"icons": [{"src": "i.png", "sizes": "1x1"}], "start_url": "/no"}'
    assert of_body(manifest, "http://a.example/m.json", "application/manifest+json") == ["http://a.example/i.png"]
    assert of_body(b"[1]", "http://a.example/m.json", "application/manifest+json") == []
    drawing = b"<svg><image href='i.png'/></svg>"
    assert of_body(drawing, "http://a.example/d.svg", "image/svg+xml") == ["http://a.example/i.png"]
    assert of_body(b"url(x)", "http://a.example/a.png", "image/png") == []


@pytest.mark.parametrize(
    "piece", ["@import ", "url(", "url('", "/*", '"', "image-set(", "import ", "\\", "import a,", "url( ", " ", "a(b "]
)
def test_strange_bodies_cost_no_more_than_their_length(piece):
    began = time.process_time()
    text = piece * (200_000 // len(piece))
    of_css(text)
    of_srcset(text)
    of_body(text.encode(), "http://a.example/", "text/javascript")
    assert time.process_time() - began < 3.0


def test_a_page_has_so_many_at_most():
    body = "".join(f"<img src={n}.png>" for n in range(2 * MOST)).encode()
    assert len(of_page(body, "http://a.example/")) == MOST
