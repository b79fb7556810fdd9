import { Card, type MantineBreakpoint } from '@mantine/core';
import { type ReactNode, useCallback, useState } from 'react';

export interface Column<Row> {
  /** The column title; for a column of buttons, their action. */
  title: string;
  cell: (row: Row) => ReactNode;
  /** Hidden on windows narrower than this breakpoint, except on phones, where rows wrap and show every column. */
  from?: MantineBreakpoint;
  align?: 'right';
  width?: number | string;
  /** Shows the title to screen readers only. */
  silent?: boolean;
  /** Its cells need no title on phones. */
  untitled?: boolean;
  /** Shown in the header in place of the title, such as a checkbox. */
  head?: ReactNode;
}

/**
 * A table; on phones each row shows its first and its silent columns on one line, and the others below, with their titles.
 * A `RowLink` in the first cell makes the whole row clickable, with one keyboard stop.
 */
export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}) {
  return (
    <Card p={0}>
      <Sideways label={label}>
        <table aria-label={label} className="data-table highlighted" role="table">
          <thead role="rowgroup">
            <tr role="row">
              {columns.map(({ title, from, align, width, silent, head }) => (
                <th
                  key={title}
                  className={classes(hidden(from), align)}
                  style={{ width }}
                  role="columnheader"
                  scope="col"
                >
                  {head ?? <span className={silent === true ? 'visually-hidden' : 'th-label'}>{title}</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows.map((row) => (
              <tr key={keyOf(row)} className="row-link" role="row">
                {columns.map(({ title, cell, from, align, silent = false, untitled }) => {
                  const content = cell(row);
                  return (
                    <td
                      key={title}
                      className={classes(
                        hidden(from),
                        align,
                        align && 'tabular',
                        silent && 'silent',
                        content === NONE && 'none',
                      )}
                      role="cell"
                      data-title={untitled === true ? undefined : title}
                    >
                      {content}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Sideways>
    </Card>
  );
}

/** What a cell without a value shows; phones leave it out. */
export const NONE = '–';

const classes = (...names: (string | false | undefined)[]) => names.filter(Boolean).join(' ');

const hidden = (from: MantineBreakpoint | undefined) => from && `from-${from}`;

/** Scrolls horizontally when its content overflows, and is focusable only then. */
function Sideways({ label, children }: { label: string; children: ReactNode }) {
  const [scrolls, setScrolls] = useState(false);
  const watched = useCallback((frame: HTMLDivElement) => {
    const observer = new ResizeObserver(() => setScrolls(frame.scrollWidth > frame.clientWidth));
    for (const element of [frame, ...frame.children]) observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const reached = scrolls ? { tabIndex: 0, role: 'region', 'aria-label': label } : {};
  return (
    <div ref={watched} className="table-scroll" {...reached}>
      {children}
    </div>
  );
}
