import { Button, Card, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useSession } from '../../app/session.tsx';
import type { SignInMethodsQuery } from '../../generated/graphql.ts';
import { Section } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { ChangeEmail } from './change-email.tsx';

/** The address to sign in with, and the one that waits for its confirmation. `methods` is undefined while it is loading. */
export function EmailAddress({ methods }: { methods: SignInMethodsQuery | undefined }) {
  const { me } = useSession();
  const [changing, { open, close }] = useDisclosure(false);
  const pending = methods?.myEmailChange ?? null;
  return (
    <Section title="Email address">
      <Card>
        <Group justify="space-between" wrap="nowrap">
          <div>
            <Text size="sm" fw={550} className="breakable">
              {me.email}
            </Text>
            <Text size="sm" c="dimmed" className="breakable" role="status">
              {pending === null ? (
                'You sign in with this address.'
              ) : (
                <>
                  Changes to {pending.email} when you open the link that we sent there. It expires{' '}
                  <When at={pending.expiresAt} />.
                </>
              )}
            </Text>
          </div>
          <Button variant="default" flex="none" disabled={methods === undefined} onClick={open}>
            Change
            <span className="visually-hidden"> email address</span>
          </Button>
        </Group>
      </Card>
      <ChangeEmail opened={changing} onClose={close} hasPassword={methods?.hasPassword ?? true} />
    </Section>
  );
}
