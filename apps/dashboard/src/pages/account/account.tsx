import { Provider } from 'urql';
import { Page } from '../../components/page.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { clientFor } from '../../data/client.ts';
import { graphql } from '../../generated/gql.ts';
import { EmailAddress } from './email-address.tsx';
import { Notifications } from './notifications.tsx';
import { Password } from './password.tsx';
import { Profile } from './profile.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

const METHODS = graphql(`
  query SignInMethods {
    hasPassword
    myEmailChange {
      email
      expiresAt
    }
  }
`);

/**
 * The account page: profile, email address, notifications, password, two-factor authentication and sessions. Its requests name no project, because the
 * project may be in another cell, and the account is in this one.
 */
export function Account() {
  return (
    <Provider value={clientFor('')}>
      <Page title="Your account" width={760}>
        <Sections />
      </Page>
    </Provider>
  );
}

function Sections() {
  const { data: methods } = useApiQuery(METHODS, {});
  return (
    <>
      <Profile />
      <EmailAddress methods={methods} />
      <Notifications />
      <Password hasPassword={methods?.hasPassword} />
      <SecondFactor hasPassword={methods?.hasPassword} />
      <Sessions />
    </>
  );
}
