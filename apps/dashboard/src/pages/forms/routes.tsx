import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { pageFor } from '../../app/page-for.tsx';
import { projectRoute } from '../../app/routes.tsx';
import { type PageSearch, pageSearch } from '../../data/paging.ts';
import type { FormSubmissionStatus } from '../../generated/graphql.ts';
import { SUBMISSION_STATUS } from './labels.ts';

/** Search parameters of the submissions of a form. */
interface SubmissionSearch extends PageSearch {
  status?: FormSubmissionStatus;
}

const submissionSearch = ({ status, ...rest }: Record<string, unknown>): SubmissionSearch => ({
  ...pageSearch(rest),
  ...(typeof status === 'string' && status in SUBMISSION_STATUS ? { status: status as FormSubmissionStatus } : {}),
});

export const formRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'forms',
    component: lazyPage(() => import('./forms.tsx'), 'Forms'),
    validateSearch: pageSearch,
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'forms/new',
    component: pageFor(
      'write',
      lazyPage(() => import('./edit-form.tsx'), 'NewForm'),
    ),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'forms/$formId',
    component: lazyPage(() => import('./form.tsx'), 'FormPage'),
    validateSearch: submissionSearch,
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'forms/$formId/edit',
    component: pageFor(
      'write',
      lazyPage(() => import('./edit-form.tsx'), 'EditForm'),
    ),
  }),
] as const;
