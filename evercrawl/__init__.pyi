from evercrawl import change as change
from evercrawl import importance as importance
from evercrawl import schedule as schedule
from evercrawl.library.crawl_table import CrawlTable as Table
from evercrawl.library.live_crawl import crawl as crawl
from evercrawl.library.stored_crawl import StoredCrawl as Crawl

__version__: str
__all__ = ["Crawl", "Table", "__version__", "change", "crawl", "importance", "schedule"]
