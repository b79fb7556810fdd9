import { Card, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconCheck, IconCircle } from '@tabler/icons-react';
import { useProject } from '../../app/session.tsx';
import { TextLink } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import type { Overview } from './overview.ts';

/** The onboarding checklist, until the first campaign. */
export function Checklist({ overview }: { overview: Overview }) {
  const { id: projectId } = useProject();
  const { domains, contacts, groups, recent } = overview;
  const steps = [
    {
      label: 'Verify a domain to send from',
      to: '/p/$projectId/domains' as const,
      done: domains.nodes.some(({ verifiedForSending }) => verifiedForSending),
    },
    { label: 'Add contacts', to: '/p/$projectId/contacts' as const, done: contacts.nodes.length > 0 },
    { label: 'Add them to a group', to: '/p/$projectId/groups' as const, done: groups.nodes.length > 0 },
    { label: 'Create a campaign', to: '/p/$projectId/campaigns' as const, done: recent.nodes.length > 0 },
    { label: 'Send', to: '/p/$projectId/campaigns' as const, done: false },
  ];
  const next = steps.find(({ done }) => !done);
  return (
    <Section title="Your first campaign" about={`${steps.filter(({ done }) => done).length} of ${steps.length} done`}>
      <Card>
        <Stack gap="sm" component="ol" m={0} p={0} className="plain-list">
          {steps.map((step) => (
            <Group key={step.label} component="li" gap="sm" wrap="nowrap">
              <ThemeIcon variant="light" radius="xl" size={26} color={step.done ? 'green' : 'gray'}>
                {step.done ? <IconCheck size={15} aria-hidden /> : <IconCircle size={13} aria-hidden />}
              </ThemeIcon>
              {step.done ? (
                <Text size="sm" c="dimmed">
                  {step.label}
                  <span className="visually-hidden">: done</span>
                </Text>
              ) : (
                <TextLink to={step.to} params={{ projectId }} size="sm" fw={step === next ? 600 : 400}>
                  {step.label}
                </TextLink>
              )}
            </Group>
          ))}
        </Stack>
      </Card>
    </Section>
  );
}
