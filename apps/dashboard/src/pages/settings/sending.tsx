import { Page } from '../../components/page.tsx';
import { Providers } from './providers.tsx';
import { SendingLimits } from './sending-limits.tsx';

/** Sending settings: providers, rate and auto-pause. */
export function Sending() {
  return (
    <Page title="Sending" about="Providers, sending rate, and when campaigns pause automatically.">
      <Providers />
      <SendingLimits />
    </Page>
  );
}
