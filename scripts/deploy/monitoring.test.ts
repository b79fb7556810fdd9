import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The exported metrics: docs/reference/metrics.md, which a test of the worker compares with a scrape. */
const EXPORTED = new Set([...read('docs/reference/metrics.md').matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name));

/** The series of an expression that are ours; `up` is Prometheus' own. */
const metricsOf = (expression: string) =>
  [...expression.matchAll(/\b(?:postroom|temporal|nodejs|process)_\w+/g)].map(([name]) => name);

const isExported = (name: string) => EXPORTED.has(name) || EXPORTED.has(name.replace(/_(bucket|sum|count)$/, ''));

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig?: { defaults: { unit?: string } };
  targets?: { expr: string }[];
  datasource?: { uid: string };
}

interface Dashboard {
  uid: string;
  title: string;
  panels: Panel[];
  templating: { list: { name: string; type: string; definition?: string }[] };
}

const dashboards = globSync('deploy/grafana/*.json', { cwd: ROOT }).map(
  (path) => [path, JSON.parse(read(path)) as Dashboard] as const,
);
const rules = read('deploy/prometheus/alerts.yaml');
const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name);

test('a metric that nothing exports is found', () => {
  expect(metricsOf('rate(postroom_sends_total[5m]) / postroom_nonsense')).toEqual([
    'postroom_sends_total',
    'postroom_nonsense',
  ]);
  expect(isExported('postroom_sends_total')).toBe(true);
  expect(isExported('postroom_http_request_seconds_bucket')).toBe(true);
  expect(isExported('postroom_nonsense')).toBe(false);
});

test('every metric of the alerts is exported', () => {
  const expressions = rules.replaceAll(/^ *#.*$/gm, '');
  expect(metricsOf(expressions).length).toBeGreaterThan(15);
  expect(metricsOf(expressions).filter((name) => !isExported(name))).toEqual([]);
});

test('every alert has a line in the runbook, and the runbook has no other', () => {
  const lines = [...read('docs/how-to/alerts.md').matchAll(/^\| `(Postroom\w+)` \|/gm)].map(([, name = '']) => name);
  expect(lines.toSorted()).toEqual(alerts.toSorted());
});

test.each(dashboards)(
  '%s has one id per panel, a unit per panel, and a variable data source',
  (_path, { panels, templating }) => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const shown = panels.filter(({ type }) => type !== 'row');
    for (const { title, fieldConfig, datasource } of shown)
      expect({ title, unit: fieldConfig?.defaults.unit, uid: datasource?.uid }).toEqual({
        title,
        unit: expect.stringMatching(/./),
        uid: '${datasource}',
      });
    expect(templating.list.find(({ type }) => type === 'datasource')?.name).toBe('datasource');
  },
);

test.each(dashboards)('no panels of %s overlap', (_path, { panels }) => {
  const taken = new Set<string>();
  for (const { title, gridPos } of panels)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect([title, taken.has(`${x},${y}`), x < 24]).toEqual([title, false, true]);
        taken.add(`${x},${y}`);
      }
});

test.each(dashboards)('every metric of %s is exported', (_path, { panels, templating }) => {
  const expressions = [
    ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...templating.list.map(({ definition = '' }) => definition),
  ];
  const named = expressions.flatMap(metricsOf);
  expect(named).not.toEqual([]);
  expect(named.filter((name) => !isExported(name))).toEqual([]);
});
