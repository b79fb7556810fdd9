/**
 * Puts custom events between the activity of a contact, both newest first. The activity keeps its order, which is that of cause and effect: mail may
 * be reported as delivered before the reply of the mail server is recorded.
 */
export function mergeTimeline<Activity extends { at: string }, CustomEvent extends { occurredAt: string }>(
  activity: readonly Activity[],
  events: readonly CustomEvent[],
): (Activity | CustomEvent)[] {
  let taken = 0;
  const merged = activity.flatMap((entry) => {
    const first = taken;
    while (taken < events.length && Date.parse(events[taken]!.occurredAt) > Date.parse(entry.at)) taken++;
    return [...events.slice(first, taken), entry];
  });
  return [...merged, ...events.slice(taken)];
}
