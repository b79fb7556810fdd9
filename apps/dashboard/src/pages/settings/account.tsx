import { Page } from '../../parts/page.tsx';

/** One's own name, password, second factor and sessions. */
export function Account() {
  return <Page title="Your account">{null}</Page>;
}
