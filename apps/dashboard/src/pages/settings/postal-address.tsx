import { Textarea } from '@mantine/core';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Section } from '../../components/page.tsx';
import { usePostalAddress } from '../../components/use-sample-contact.ts';
import { RowsSkeleton } from '../../components/states.tsx';
import { SettingForm } from './setting-form.tsx';

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
  const set = useApiMutation(SET);
  return (
    <SettingForm
      values={{ address: known }}
      mutation={set}
      save={({ address }) => set.run({ address: address.trim() === '' ? null : address })}
      saved="Postal address saved."
    >
      {(form, readOnly) => (
        <Textarea
          label="Name and address"
          placeholder={'The Workshop Ltd\n1 Main Street\n12345 Berlin, Germany'}
          rows={4}
          resize="vertical"
          maxLength={500}
          readOnly={readOnly}
          {...form.getInputProps('address')}
        />
      )}
    </SettingForm>
  );
}
