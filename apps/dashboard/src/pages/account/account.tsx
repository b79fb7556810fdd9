import { Page } from '../../components/page.tsx';
import { Notifications } from './notifications.tsx';
import { Password } from './password.tsx';
import { Profile } from './profile.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

/** The account page: profile, notifications, password, two-factor authentication and sessions. */
export function Account() {
  return (
    <Page title="Your account" width={760}>
      <Profile />
      <Notifications />
      <Password />
      <SecondFactor />
      <Sessions />
    </Page>
  );
}
