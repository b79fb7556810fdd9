import * as platform from '@postroom/platform';
import { expect, test } from 'vitest';
import { SEARCH_ATTRIBUTES } from '../src/temporal.ts';

test('Temporal starts with every search attribute that workflows are labelled with', () => {
  expect(SEARCH_ATTRIBUTES).toEqual([...platform.SEARCH_ATTRIBUTES]);
});
