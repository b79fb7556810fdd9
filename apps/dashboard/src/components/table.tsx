import { Card, type MantineBreakpoint, Table } from '@mantine/core';
import { type ReactNode, useCallback, useState } from 'react';

export interface Column<Row> {
  /** The column title; for a column of buttons, their action. */
  title: string;
  cell: (row: Row) => ReactNode;
  /** Hidden below this breakpoint. The first column must then be sufficient. */
  from?: MantineBreakpoint;
  align?: 'right';
  width?: number | string;
  /** Shows the title to screen readers only. */
  silent?: boolean;
}

/** A table. A link of class `covering` in the first cell makes the whole row clickable, with one keyboard stop. */
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
