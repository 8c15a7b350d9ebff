"""The HTML report of a comparison: one file that opens offline."""

from sluice.lab.report.page import report_html

__all__ = ["report_html"]
