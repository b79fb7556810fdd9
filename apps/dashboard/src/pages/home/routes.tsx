import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { projectRoute } from '../../app/routes.tsx';
import { homeSearch } from './period.ts';

/** The home route. */
export const homeRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: '/',
    validateSearch: homeSearch,
    component: lazyPage(() => import('./home.tsx'), 'Home', { forms: false }),
  }),
] as const;
