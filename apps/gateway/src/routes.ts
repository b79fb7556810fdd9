import { routes as campaigns } from '@postroom/campaigns/rest';
import { routes as contacts } from '@postroom/contacts/rest';
import { routes as domains } from '@postroom/domains/rest';
import { routes as emails } from '@postroom/emails/rest';
import { routes as groups } from '@postroom/groups/rest';
import { routes as imports, streams as importStreams } from '@postroom/imports/rest';
import type { Route, StreamRoute } from '@postroom/platform';
import { routes as privacy } from '@postroom/privacy/rest';
import { routes as projects } from '@postroom/projects/rest';
import { routes as templates } from '@postroom/templates/rest';
import { routes as webhooks } from '@postroom/webhooks/rest';

/** Every `/v1` route, in the order of the reference. */
export const routes: readonly Route[] = [
  ...projects,
  ...emails,
  ...contacts,
  ...privacy,
  ...groups,
  ...imports,
  ...campaigns,
  ...templates,
  ...domains,
  ...webhooks,
];

/** The routes whose bodies or responses are too large to buffer. */
export const streams: readonly StreamRoute[] = [...importStreams];
