import type { Definition, Step } from './definition-types.ts';

/** A journey to start from. Its senders and templates, and its group, segment or date if it has one, are still to be chosen. */
export interface GalleryJourney {
  name: string;
  about: string;
  definition: Definition;
}

const send = (id: string, next: string | null): Step => ({ id, type: 'send', next });
const wait = (id: string, days: number, next: string | null): Step => ({ id, type: 'wait', for: { days }, next });

export const GALLERY: GalleryJourney[] = [
  {
    name: 'Welcome series',
    about:
      'Three emails in a week to everyone who joins a group. Contacts who opened the second get a different third one.',
    definition: {
      entry: { type: 'group_joined', groupId: '' },
      steps: [
        send('welcome', 'two_days'),
        wait('two_days', 2, 'introduction'),
        send('introduction', 'three_days'),
        wait('three_days', 3, 'has_opened'),
        {
          id: 'has_opened',
          type: 'condition',
          message: { stepId: 'introduction', outcome: 'opened' },
          yes: 'next_steps',
          no: 'reminder',
        },
        send('next_steps', null),
        send('reminder', null),
      ],
    },
  },
  {
    name: 'Abandoned cart',
    about: 'Two reminders after a cart was updated, until the order is placed.',
    definition: {
      entry: { type: 'event', event: 'cart updated' },
      reentry: { afterDays: 7 },
      goal: { event: 'order placed' },
      steps: [
        { id: 'four_hours', type: 'wait', for: { hours: 4 }, next: 'reminder' },
        send('reminder', 'a_day'),
        wait('a_day', 1, 'last_reminder'),
        send('last_reminder', null),
      ],
    },
  },
  {
    name: 'Trial ending',
    about: 'Reminders three days and a day before the date in a custom field, until the contact subscribes.',
    definition: {
      entry: { type: 'date', field: '', offsetDays: -3, time: '09:00' },
      goal: { event: 'subscription started' },
      steps: [send('three_days_left', 'two_days'), wait('two_days', 2, 'last_day'), send('last_day', null)],
    },
  },
  {
    name: 'Onboarding by behavior',
    about:
      'Helps contacts who have not created a project within three days of signing up, and shows the others more features.',
    definition: {
      entry: { type: 'event', event: 'signed up' },
      steps: [
        send('welcome', 'project'),
        {
          id: 'project',
          type: 'wait_for_event',
          event: 'project created',
          timeout: { days: 3 },
          next: 'show_more',
          onTimeout: 'help',
        },
        send('show_more', null),
        send('help', null),
      ],
    },
  },
  {
    name: 'Post-purchase',
    about: 'A thank-you after an order, and a request for a review two weeks later, on a weekday morning.',
    definition: {
      entry: { type: 'event', event: 'order placed' },
      reentry: { afterDays: 30 },
      steps: [
        send('thank_you', 'two_weeks'),
        wait('two_weeks', 14, 'weekday_morning'),
        { id: 'weekday_morning', type: 'wait_until', time: '09:00', weekdays: [1, 2, 3, 4, 5], next: 'review' },
        send('review', null),
      ],
    },
  },
  {
    name: 'NPS survey',
    about: 'Asks for a score a month after sign-up, and once more if there is no answer within four days.',
    definition: {
      entry: { type: 'event', event: 'signed up' },
      goal: { event: 'survey answered' },
      steps: [
        wait('a_month', 30, 'survey'),
        send('survey', 'four_days'),
        wait('four_days', 4, 'again'),
        send('again', null),
      ],
    },
  },
  {
    name: 'Re-engagement, then sunset',
    about:
      'Asks those who enter a segment of inactive contacts whether they want to stay, and adds those who do not open the email to a group.',
    definition: {
      entry: { type: 'segment_entered', segmentId: '' },
      steps: [
        send('still_interested', 'two_weeks'),
        wait('two_weeks', 14, 'has_opened'),
        {
          id: 'has_opened',
          type: 'condition',
          message: { stepId: 'still_interested', outcome: 'opened' },
          yes: 'thank_you',
          no: 'sunset',
        },
        send('thank_you', null),
        { id: 'sunset', type: 'join_group', groupId: '' },
      ],
    },
  },
  {
    name: 'Win-back',
    about: 'Two emails after a subscription was canceled, a month and six weeks later, until the contact subscribes.',
    definition: {
      entry: { type: 'event', event: 'subscription canceled' },
      reentry: 'always',
      goal: { event: 'subscription started' },
      steps: [
        wait('a_month', 30, 'we_miss_you'),
        send('we_miss_you', 'two_weeks'),
        wait('two_weeks', 14, 'last_offer'),
        send('last_offer', null),
      ],
    },
  },
  {
    name: 'Birthday',
    about: 'A greeting each year at nine in the morning of the date in a custom field.',
    definition: {
      entry: { type: 'date', field: '', yearly: true, time: '09:00' },
      steps: [send('greeting', null)],
    },
  },
  {
    name: 'Double opt-in reminder',
    about:
      'For sign-ups in your own system; forms send their own reminders. Two reminders, a day and four days after sign-up, until your system sends the event “subscription confirmed”.',
    definition: {
      entry: { type: 'event', event: 'confirmation requested' },
      reentry: { afterDays: 30 },
      goal: { event: 'subscription confirmed' },
      steps: [
        wait('a_day', 1, 'reminder'),
        // Without a confirmation the contact may still be unsubscribed.
        { ...send('reminder', 'three_days'), transactional: true },
        wait('three_days', 3, 'last_reminder'),
        { ...send('last_reminder', null), transactional: true },
      ],
    },
  },
];
