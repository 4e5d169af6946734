"""Logs and dumps in the forms in which Heritrix and Nutch wrote them, release by release.

The lines have the form of files in public repositories: logs by Heritrix 1 (2006 and 2009) and 3.2 and 3.3 (2016),
dumps by Nutch of 2014 and 2021. Hosts are made up. WARCPROX is what warcprox 2.13 wrote of a site on loopback. The rows
of `-format csv` follow Nutch's code alone.
"""

import math

import pytest

from evercrawl.crawl.importing.captures import Spot, Unusable
from evercrawl.crawl.importing.opening import form_of, sources

HERITRIX_1 = """\
2006-07-07T14:32:16.113Z     1         47 dns:n.example P http://n.example/ text/dns #002 20060707123215552+2 - - -
2006-07-07T14:32:16.252Z   302          0 http://n.example/robots.txt P http://n.example/ no-type #009 \
20060707123216133+99 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - -
2006-07-07T14:32:16.298Z   302          0 http://n.example/ - - text/html #012 20060707123216267+19 \
3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - 3t
2006-07-07T14:32:17.337Z   200      23386 http://n.example/faq.php?a=1&b RL http://n.example/index.php text/html #043 \
20060707123216829+35 4ZQRWCQRKZUHXIIAKAPUCAGZCE634UTW - -
2006-07-07T14:32:17.970Z   200        279 http://n.example/a.gif RX http://n.example/ image/gif #029 \
20060707123217948+18 X3UMMU2PPK46YHRU235UQPKSTLEA3YAV - -
2006-07-07T14:32:21.630Z   302          0 http://n.example/statistik X http://n.example/ no-type #036 \
20060707123221606+19 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - -
2009-06-01T15:36:24.191Z   404          0 http://n.example/webtv/2.5 EX http://n.example/A.js text/html #013 \
20090601153624146+42 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - content-size:216
2009-06-01T15:36:22.379Z   200       8321 http://n.example/A.js E http://n.example/ application/x-javascript #029 \
20090601153622257+67 sha1:OUZ5LFEXKVOTUNOH6DQSKMCPAAGQAOO3 - duplicate:"1039-130-0.arc,9358",content-size:8606
"""
HERITRIX_3 = """\
2016-12-05T10:11:09.265Z   200       1403 http://k.example/ - - text/html #028 20161205101109092+65 \
sha1:SRUXQCLFCC4GVEDXGETBPUTUHRENTCRT k.example content-size:1731,3t
2016-12-05T10:11:12.147Z   200       2026 http://k.example/again L http://k.example/ text/html #048 \
20161205101111667+248 sha1:C3PH3IWTSURQ7XILQRHDIDDGAD2ORRPH k.example \
duplicate:"2-1-0-4320~h~8173.arc,138604,20161205100310645",content-size:2494,3t
2016-12-05T10:11:34.636Z  -404          0 http://k.example/late EP http://k.example/ unknown #027 - - k.example -
2016-07-21T10:34:43.615Z   200      70767 http://k.example/convertible - - text/html #024 20160721103441795+670 - - - \
{"perp":"000000225426","warcFilename":"HTML-20160721102255397-00000-19677~h~8443.warc.gz"}
"""
WARCPROX = """\
2026-11-27T20:48:10.126Z   200         86 http://127.0.0.2:8899/p1.html - - text/html - 20261127204805261+015 \
sha1:dca1dc42ab2cb43f496fbcd4fda5c6cb30ffaa88 - - \
{"contentSize":271,"warcFilename":"WARCPROX-20261127204805287-00000-msvdw7gf.warc.gz","warcFileOffset":331}
2026-11-27T20:48:10.127Z   200         86 http://127.0.0.2:8899/p1.html - - text/html - 20261127204806444+002 \
sha1:dca1dc42ab2cb43f496fbcd4fda5c6cb30ffaa88 - duplicate:digest \
{"contentSize":271,"warcFilename":"WARCPROX-20261127204805287-00000-msvdw7gf.warc.gz","warcFileOffset":5995}
2026-11-27T20:48:10.127Z    -2          0 http://127.0.0.2:9/none.html - - unknown - - - - - \
{"exception":"HTTPConnection(host='127.0.0.2',_port=9):_Failed_to_establish_a_new_connection:_[Errno_111]"}
"""
ENTRY = """\
http://x.example/\tVersion: 7
Status: 2 (db_fetched)
Fetch time: Tue Mar 02 19:26:45 EST 2021
Modified time: Sun Jan 31 19:26:45 EST 2021
Retries since fetch: 0
Retry interval: 2592000 seconds (30 days)
Score: 0.016699996
Signature: fafd8b62bbeeffeb0aa6a3bee1adbb85
Metadata:\x20
 \t_pst_=success(1), lastModified=1612139204000
\t_rs_=372
\tContent-Type=text/html
\tnutch.protocol.code=200

http://x.example/unread\tVersion: 7
Status: 1 (db_unfetched)
Fetch time: Sun Jan 31 19:47:32 EST 2021
Modified time: Wed Dec 31 19:00:00 EST 1969
Retries since fetch: 0
Retry interval: 2592000 seconds (30 days)
Score: 3.8461538E-4
Signature: null
Metadata:\x20

http://x.example/board/\tVersion: 7
Status: 3 (db_gone)
Fetch time: Sat Jul 19 17:00:05 CST 2014
Modified time: Thu Jan 01 08:00:00 CST 1970
Retries since fetch: 0
Retry interval: 3888000 seconds (45 days)
Score: 1.0
Signature: null
Metadata:\x20
 \t_pst_=robots_denied(18), lastModified=0

"""
ROWS = """\
Url,Status code,Status name,Fetch Time,Modified Time,Retries since fetch,Retry interval seconds,Retry interval days,\
Score,Signature,Metadata
"http://x.example/",2,"db_fetched",Tue Mar 02 19:26:45 EST 2021,Wed Dec 31 19:00:00 EST 1969,0,2592000.0,30.0,\
0.0167,"fafd8b62bbeeffeb0aa6a3bee1adbb85","_pst_:success(1), lastModified=0|||Content-Type:text/html|||"
"http://x.example/unread",1,"db_unfetched",Sun Jan 31 19:47:32 EST 2021,Wed Dec 31 19:00:00 EST 1969,0,2592000.0,\
30.0,3.8E-4,"null",""
"http://x.example/gone",3,"db_gone",Tue Mar 02 19:26:45 EST 2021,Wed Dec 31 19:00:00 EST 1969,0,2592000.0,30.0,\
0.0,"null","_pst_:notfound(14), lastModified=0: http://x.example/gone|||"
"""
FETCHED_AT = 1612139205.0  # 31 January 2021, 19:26:45 EST: an interval of 30 days before it is due
SEEN = {
    "heritrix": {
        HERITRIX_1: [
            ("http://n.example/", 302, 1152275536.267, "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
            ("http://n.example/faq.php?a=1&b", 200, 1152275536.829, "4ZQRWCQRKZUHXIIAKAPUCAGZCE634UTW"),
            ("http://n.example/statistik", 302, 1152275541.606, "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
            ("http://n.example/webtv/2.5", 404, 1243870584.146, "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
        ],
        HERITRIX_3: [
            ("http://k.example/", 200, 1480932669.092, "SRUXQCLFCC4GVEDXGETBPUTUHRENTCRT"),
            ("http://k.example/again", 200, 1480932671.667, "C3PH3IWTSURQ7XILQRHDIDDGAD2ORRPH"),
            ("http://k.example/late", 0, math.nan, ""),
            ("http://k.example/convertible", 200, 1469097281.795, ""),
        ],
        WARCPROX: [
            ("http://127.0.0.2:8899/p1.html", 200, 1795812485.261, "dca1dc42ab2cb43f496fbcd4fda5c6cb30ffaa88"),
            ("http://127.0.0.2:8899/p1.html", 200, 1795812486.444, "dca1dc42ab2cb43f496fbcd4fda5c6cb30ffaa88"),
            ("http://127.0.0.2:9/none.html", 0, math.nan, ""),
        ],
    },
    "nutch": {
        ENTRY: [
            ("http://x.example/", 200, FETCHED_AT, "fafd8b62bbeeffeb0aa6a3bee1adbb85"),
            ("http://x.example/unread", 0, math.nan, ""),
            ("http://x.example/board/", 0, math.nan, ""),
        ],
        ROWS: [
            ("http://x.example/", 200, FETCHED_AT, "fafd8b62bbeeffeb0aa6a3bee1adbb85"),
            ("http://x.example/unread", 0, math.nan, ""),
            ("http://x.example/gone", 404, FETCHED_AT, ""),
        ],
    },
}
SEEN["nutch"][ROWS.replace(",", ";")] = SEEN["nutch"][ROWS]  # as old versions wrote it


@pytest.mark.parametrize("form", ["heritrix", "nutch"])
def test_files_that_other_programs_wrote_are_read_as_they_meant_them(tmp_path, form):
    path = tmp_path / "file"
    for text, expected in SEEN[form].items():
        path.write_text(text)
        assert form_of(path) == form
        (source,) = sources([path])
        try:
            found = list(source.scan())
            assert [str(one) for one in found if isinstance(one, Unusable)] == []
            spots = [one for one in found if isinstance(one, Spot)]
            seen = [source.load(spot.place, spot.length, spot.part) for spot in spots]
        finally:
            source.close()
        urls, codes, instants, digests = zip(*expected, strict=True)
        assert [one.url for one in seen] == list(urls)
        assert [one.status for one in seen] == list(codes)
        assert [one.digest for one in seen] == list(digests)
        assert [one.at for one in seen] == pytest.approx(list(instants), rel=0, abs=1e-3, nan_ok=True)
