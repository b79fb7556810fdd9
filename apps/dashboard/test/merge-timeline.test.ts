import { expect, test } from 'vitest';
import { mergeTimeline } from '../src/pages/audience/merge-timeline.ts';

const at = (second: number) => `2026-11-27T10:00:0${second}.000Z`;

test('custom events come between the activity, which keeps its order', () => {
  // Delivered a second before the reply was recorded.
  const activity = [
    { type: 'opened', at: at(6) },
    { type: 'delivered', at: at(3) },
    { type: 'sent', at: at(4) },
  ];
  const events = [8, 5, 1].map((second) => ({ type: `event ${second}`, occurredAt: at(second) }));
  const types = (of: typeof activity, among: typeof events) => mergeTimeline(of, among).map(({ type }) => type);
  expect(types(activity, events)).toEqual(['event 8', 'opened', 'event 5', 'delivered', 'sent', 'event 1']);
  expect(types([], events)).toEqual(['event 8', 'event 5', 'event 1']);
  expect(types(activity, [])).toEqual(['opened', 'delivered', 'sent']);
});
