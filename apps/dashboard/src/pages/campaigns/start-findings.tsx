import '@mantine/core/styles/List.css';
import { Alert, List } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { AbTestPreflightQuery } from '../../generated/graphql.ts';
import type { AbTestRow } from './ab-test-row.ts';
import { finding } from './findings.ts';

const PREFLIGHTS = graphql(`
  query AbTestPreflight(
    $a: ID!
    $b: ID!
    $c: ID!
    $d: ID!
    $e: ID!
    $hasC: Boolean!
    $hasD: Boolean!
    $hasE: Boolean!
  ) {
    a: campaignPreflight(id: $a) {
      ...VariantFindings
      audience {
        recipients
      }
    }
    b: campaignPreflight(id: $b) {
      ...VariantFindings
    }
    c: campaignPreflight(id: $c) @include(if: $hasC) {
      ...VariantFindings
    }
    d: campaignPreflight(id: $d) @include(if: $hasD) {
      ...VariantFindings
    }
    e: campaignPreflight(id: $e) @include(if: $hasE) {
      ...VariantFindings
    }
  }
  fragment VariantFindings on Preflight {
    problems {
      field
      message
    }
    warnings {
      field
      message
    }
  }
`);

type Found = AbTestPreflightQuery['b'];

interface Findings {
  problems: string[];
  warnings: string[];
  /** People in the audience, which all variants share. */
  recipients: number;
}

/** What keeps the variants of a test from being sent, and their warnings; undefined until known. */
export function useStartFindings(variants: AbTestRow['variants'], { pause }: { pause: boolean }): Findings | undefined {
  const [a = '', b = '', c, d, e] = variants.map(({ campaign }) => campaign.id);
  const ids = { a, b, c: c ?? a, d: d ?? a, e: e ?? a };
  const has = { hasC: c !== undefined, hasD: d !== undefined, hasE: e !== undefined };
  const { data } = useApiQuery(PREFLIGHTS, { ...ids, ...has }, { pause });
  if (data === undefined) return undefined;
  const found = [data.a, data.b, data.c, data.d, data.e].filter((one) => one != null);
  const labels = variants.map(({ label }) => label);
  return {
    problems: perVariant(found, labels, ({ problems }) => problems.filter(({ field }) => field !== 'status')),
    warnings: perVariant(found, labels, ({ warnings }) => warnings),
    recipients: data.a.audience.recipients,
  };
}

/** Each finding once: with the letters of its variants, unless all have it. */
function perVariant(
  found: readonly Found[],
  labels: readonly string[],
  of: (found: Found) => Found['problems'],
): string[] {
  const variants = new Map<string, number[]>();
  for (const [index, one] of found.entries())
    for (const { field, message } of of(one)) {
      const text = finding(field, message);
      variants.set(text, [...(variants.get(text) ?? []), index]);
    }
  return [...variants].flatMap(([text, indexes]) =>
    indexes.length === found.length ? [text] : indexes.map((index) => `Variant ${labels[index]}: ${text}`),
  );
}

/** The findings in the dialog that starts the test. */
export const StartFindings = ({ findings: { problems, warnings } }: { findings: Findings }) => (
  <>
    {problems.length > 0 && <Listed color="gray" title="Required before sending" findings={problems} />}
    {warnings.length > 0 && <Listed color="yellow" title="Warnings" findings={warnings} />}
  </>
);

const Listed = ({ color, title, findings }: { color: string; title: string; findings: string[] }) => (
  <Alert color={color} title={title} icon={<IconAlertTriangle aria-hidden />}>
    <List size="sm">
      {findings.map((text) => (
        <List.Item key={text}>{text}</List.Item>
      ))}
    </List>
  </Alert>
);
