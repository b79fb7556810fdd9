import { createRouter } from '@tanstack/react-router';
import { audienceRoutes } from '../pages/audience/routes.tsx';
import { domainRoutes } from '../pages/domains/routes.tsx';
import { campaignRoutes } from '../pages/campaigns/routes.tsx';
import { emailRoutes } from '../pages/emails/routes.tsx';
import { eventRoutes } from '../pages/events/routes.tsx';
import { formRoutes } from '../pages/forms/routes.tsx';
import { journeyRoutes } from '../pages/journeys/routes.tsx';
import { importRoutes } from '../pages/imports/routes.tsx';
import { homeRoutes } from '../pages/home/routes.tsx';
import { settingsRoutes } from '../pages/settings/routes.tsx';
import { signInRoutes } from '../pages/sign-in/routes.tsx';
import { templateRoutes } from '../pages/templates/routes.tsx';
import { webhookRoutes } from '../pages/webhooks/routes.tsx';
import { LoadFailed, PagePending } from '../components/route-states.tsx';
import { authRoute, confirmEmailRoute, projectRoute, projectsRoute, rootRoute, startRoute } from './routes.tsx';

const routeTree = rootRoute.addChildren([
  ...signInRoutes,
  authRoute.addChildren([
    startRoute,
    projectsRoute,
    confirmEmailRoute,
    projectRoute.addChildren([
      ...homeRoutes,
      ...audienceRoutes,
      ...eventRoutes,
      ...formRoutes,
      ...journeyRoutes,
      ...importRoutes,
      ...campaignRoutes,
      ...emailRoutes,
      ...templateRoutes,
      ...domainRoutes,
      ...settingsRoutes,
      ...webhookRoutes,
    ]),
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  scrollRestoration: true,
  // Drops search parameters that no route validates.
  search: { strict: true },
  defaultErrorComponent: LoadFailed,
  defaultPendingComponent: PagePending,
  defaultPendingMs: 300,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
