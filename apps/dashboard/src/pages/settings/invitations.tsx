import { Card, Text } from '@mantine/core';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { RowButton } from '../../components/row-button.tsx';
import { ROLES } from './roles.ts';

const INVITATIONS = graphql(`
  query Invitations {
    invitations {
      id
      email
      role
      createdAt
      expiresAt
    }
  }
`);

const WITHDRAW = graphql(`
  mutation WithdrawInvitation($id: ID!) {
    invitationWithdraw(id: $id) {
      deletedId
    }
  }
`);

/** Pending invitations. */
export function Invitations() {
  const read = useApiQuery(INVITATIONS, {});
  const withdraw = useApiMutation(WITHDRAW);
  const take = async (id: string, email: string) => {
    if ((await withdraw.run({ id })) !== undefined) notifySuccess(`The invitation for ${email} was withdrawn.`);
  };
  return (
    <QueryResult of={read} skeleton={<RowsSkeleton rows={1} />}>
      {({ invitations }) =>
        invitations.length === 0 ? (
          <Card>
            <Text size="sm" c="dimmed">
              No pending invitations.
            </Text>
          </Card>
        ) : (
          <>
            <FormProblem problem={withdraw.problem} />
            <DataTable
              label="Invitations"
              rows={invitations}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Address', cell: ({ email }) => email },
                { title: 'Role', cell: ({ role }) => ROLES[role].label, from: 'xs' },
                { title: 'Sent', cell: ({ createdAt }) => <When at={createdAt} />, from: 'sm' },
                { title: 'Ends', cell: ({ expiresAt }) => <When at={expiresAt} />, from: 'sm' },
                {
                  title: 'Withdraw',
                  silent: true,
                  align: 'right',
                  cell: ({ id, email }) => (
                    <RowButton color="red" run={() => take(id, email)}>
                      Withdraw<span className="visually-hidden"> the invitation for {email}</span>
                    </RowButton>
                  ),
                },
              ]}
            />
          </>
        )
      }
    </QueryResult>
  );
}
