import './audit-changes.css';
import { Text } from '@mantine/core';
import type { AuditLogQuery } from '../../generated/graphql.ts';

type Change = AuditLogQuery['auditLog']['nodes'][number]['changes'][number];

/** The fields that an update changed; their values before and after it on demand. */
export function AuditChanges({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return null;
  return (
    <details className="audit-changes">
      <summary>{changes.map(({ label }) => label).join(', ')}</summary>
      <dl>
        {changes.map(({ field, label, before, after }) => (
          <div key={field}>
            <dt>{label}</dt>
            <dd className="breakable">
              <Value of={before} />
              <span aria-hidden> → </span>
              <span className="visually-hidden"> changed to </span>
              <Value of={after} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Value({ of: value }: { of: unknown }) {
  const text = textOf(value);
  if (text !== '') return text;
  return (
    <Text span c="dimmed" inherit>
      none
    </Text>
  );
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
