import { Provider } from 'urql';
import { Page } from '../../components/page.tsx';
import { clientFor } from '../../data/client.ts';
import { Notifications } from './notifications.tsx';
import { Password } from './password.tsx';
import { Profile } from './profile.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

/**
 * The account page: profile, notifications, password, two-factor authentication and sessions. Its requests name no project, because the
 * project may be in another cell, and the account is in this one.
 */
export function Account() {
  return (
    <Provider value={clientFor('')}>
      <Page title="Your account" width={760}>
        <Profile />
        <Notifications />
        <Password />
        <SecondFactor />
        <Sessions />
      </Page>
    </Provider>
  );
}
