import { type EventType, MAX_EMAIL_LENGTH, MAX_ID_LENGTH, MAX_NAME_LENGTH, type NewEvent } from '@postroom/platform';
import { z } from 'zod';

export const eventTypes: Record<string, EventType> = {
  'form.confirmed': {
    fires: 'Someone subscribed with a form: they confirmed their address, or submitted a form without double opt-in.',
    data: z.object({
      form_id: z.string().max(MAX_ID_LENGTH).describe('Form id.'),
      form_name: z.string().max(MAX_NAME_LENGTH).describe('The name of the form.'),
      submission_id: z.string().max(MAX_ID_LENGTH).describe('The submission, which records the consent.'),
      contact_id: z.string().max(MAX_ID_LENGTH).describe('The contact that subscribed.'),
      email: z.string().max(MAX_EMAIL_LENGTH).describe("The contact's address."),
      name: z.string().max(MAX_NAME_LENGTH).describe("The contact's name."),
    }),
    example: {
      form_id: 'frm_01k9zq3v5re8rt5xw7m2n4p6q8',
      form_name: 'Newsletter',
      submission_id: 'fsb_01k9zq3v5re8rt5xw7m2n4p6q8',
      contact_id: 'ctc_01k9zq3v5re8rt5xw7m2n4p6q8',
      email: 'ada@example.com',
      name: 'Ada Lovelace',
    },
  },
};

/** Someone subscribed by a form. */
export function formConfirmed({
  form,
  contact,
  submissionId,
}: {
  form: { id: string; name: string };
  contact: { id: string; email: string; name: string };
  submissionId: string;
}): NewEvent {
  return {
    type: 'form.confirmed',
    data: {
      form_id: form.id,
      form_name: form.name,
      submission_id: submissionId,
      contact_id: contact.id,
      email: contact.email,
      name: contact.name,
    },
  };
}
