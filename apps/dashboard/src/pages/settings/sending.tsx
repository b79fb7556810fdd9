import { Page } from '../../components/page.tsx';
import { Providers } from './providers.tsx';
import { SendingLimits } from './sending-limits.tsx';

/** How mail leaves: the ways out of the project, its rate, and when campaigns pause by themselves. */
export function Sending() {
  return (
    <Page title="Sending" about="Providers, sending rate, and when campaigns pause automatically.">
      <Providers />
      <SendingLimits />
    </Page>
  );
}
