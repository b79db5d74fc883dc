"""What people look at: tables for the terminal, and one self-contained page."""

from worldodds.report.build import report_sources as report_sources
from worldodds.report.build import write_report as write_report
