import { Button, Card, Group, Stack, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMay } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem, useFieldProblems } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { usePostalAddress } from '../../components/sample-contact.tsx';
import { RowsSkeleton } from '../../components/states.tsx';

const SET = graphql(`
  mutation SetPostalAddress($address: String) {
    setPostalAddress(address: $address) {
      id
      postalAddress
    }
  }
`);

/** The sender's postal address, which campaigns show. */
export function PostalAddress() {
  const address = usePostalAddress();
  return (
    <Section
      title="Postal address"
      about="Campaigns show it in their footer, and templates where they have {{postal_address}}. Many countries require one."
    >
      {address === undefined ? <RowsSkeleton /> : <AddressForm address={address ?? ''} />}
    </Section>
  );
}

function AddressForm({ address: known }: { address: string }) {
  const manages = useMay()('manage');
  const set = useApiMutation(SET);
  const form = useForm({ initialValues: { address: known } });
  useFieldProblems(form, set.problem);
  const submit = form.onSubmit(async ({ address }) => {
    if ((await set.run({ address: address.trim() === '' ? null : address })) === undefined) return;
    form.resetDirty();
    notifySuccess('Postal address saved.');
  });
  return (
    <Card>
      <form onSubmit={submit} noValidate>
        <Stack>
          <FormProblem problem={set.problem} fields={['address']} />
          <Textarea
            label="Name and address"
            placeholder={'The Workshop Ltd\n1 Main Street\n12345 Berlin, Germany'}
            autosize
            minRows={3}
            maxLength={500}
            readOnly={!manages}
            {...form.getInputProps('address')}
          />
          {manages && (
            <Group justify="flex-end">
              <Button type="submit" loading={set.running} disabled={!form.isDirty()}>
                Save
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Card>
  );
}
