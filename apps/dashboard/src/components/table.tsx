import { Card, type MantineBreakpoint, Table } from '@mantine/core';
import { type ReactNode, useCallback, useState } from 'react';

export interface Column<Row> {
  /** What the column is called; for one of buttons, what they do. */
  title: string;
  cell: (row: Row) => ReactNode;
  /** Hidden on screens narrower than this; the first column should then say what matters. */
  from?: MantineBreakpoint;
  align?: 'right';
  width?: number | string;
  /** The title is for screen readers only. */
  silent?: boolean;
}

/**
 * Rows under titles. A row leads somewhere when its first cell holds a link of class `covering`: then all of it can be
 * clicked, and only the link is reached by the keyboard.
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
        <Table aria-label={label} highlightOnHover className="data-table">
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ title, from, align, width, silent }) => (
                <Table.Th key={title} visibleFrom={from} ta={align} w={width} scope="col">
                  {silent === true ? <span className="visually-hidden">{title}</span> : title}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={keyOf(row)} className="row-link">
                {columns.map(({ title, cell, from, align }) => (
                  <Table.Td key={title} visibleFrom={from} ta={align} className={align && 'tabular'}>
                    {cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Sideways>
    </Card>
  );
}

/** Scrolls sideways where its content is too wide; only then is it a stop of the keyboard, which scrolls it by arrows. */
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
