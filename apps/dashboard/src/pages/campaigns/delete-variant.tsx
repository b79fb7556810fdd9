import { Button } from '@mantine/core';
import { useState } from 'react';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { AbTestRow } from './ab-test-row.ts';

const KEEP = graphql(`
  mutation KeepVariants($id: ID!, $variantIds: [ID!]!, $version: Int!) {
    updateAbTest(id: $id, input: { variantIds: $variantIds, version: $version }) {
      id
    }
  }
`);

/** Deletes a variant of a draft, after a question. */
export function DeleteVariant({
  test: { id, version, variants },
  variant,
}: {
  test: AbTestRow;
  variant: AbTestRow['variants'][number];
}) {
  const [asking, setAsking] = useState(false);
  const keep = useApiMutation(KEEP);
  const { label } = variant;
  const confirm = async () => {
    const variantIds = variants.filter((other) => other !== variant).map(({ campaign }) => campaign.id);
    if ((await keep.run({ id, variantIds, version })) === undefined) return;
    notifySuccess(`Variant ${label} was deleted.`);
    setAsking(false);
  };
  const isLast = variants.at(-1) === variant;
  return (
    <>
      <Button size="compact-sm" variant="subtle" color="red" onClick={() => setAsking(true)}>
        Delete<span className="visually-hidden"> variant {label}</span>
      </Button>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title={`Delete variant ${label}?`}
        action="Delete"
        running={keep.running}
        problem={keep.problem}
        onConfirm={() => void confirm()}
      >
        Its content will be lost.{!isLast && ' The variants after it move up by a letter.'}
      </Confirm>
    </>
  );
}
