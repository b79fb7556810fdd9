import { Card, Skeleton, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';

/** The height of every chart, in pixels. */
export const CHART_HEIGHT = 240;

interface Figures {
  title: string;
  /** Titles of the table's columns; the first says when. */
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

/** A chart with its title, a description, and its figures as a table. */
export function ChartFigure({ about, children, ...figures }: Figures & { about?: ReactNode; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Stack gap="xs" component="figure" m={0} miw={0} aria-label={figures.title}>
      <figcaption>
        <Text size="sm" fw={550}>
          {figures.title}
        </Text>
        {about !== undefined && (
          <Text size="sm" c="dimmed">
            {about}
          </Text>
        )}
      </figcaption>
      {children}
      <details className="chart-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Show as a table</summary>
        {isOpen && <FigureTable {...figures} />}
      </details>
    </Stack>
  );
}

/** About as high as a card with a figure, while its data loads. */
export const ChartSkeleton = () => (
  <Card>
    <Stack gap="xs">
      <Skeleton h={44} w="40%" />
      <Skeleton h={CHART_HEIGHT} />
      <Skeleton h={24} w="20%" />
    </Stack>
  </Card>
);

function FigureTable({ title, columns, rows }: Figures) {
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
      <table aria-label={title} className="data-table dense">
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={column} scope="col" className={index === 0 ? undefined : 'right'}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr key={cells[0]}>
              {cells.map((cell, index) =>
                index === 0 ? (
                  <th key={columns[index]} scope="row">
                    {cell}
                  </th>
                ) : (
                  <td key={columns[index]} className="right tabular">
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
