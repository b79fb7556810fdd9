import type { List } from './list.ts';
import { type Body, type DataOf, type Query, Resource } from './resource.ts';
import type { RequestOptions } from './transport.ts';
import type {
  Campaign,
  CampaignDetail,
  CampaignRecipient,
  Email,
  EmailDetail,
  Preflight,
  QueuedEmail,
  Template,
  TemplateVersion,
} from './types.ts';

export class Emails extends Resource {
  /** Sends a transactional email. Keys with scope `sending` may do this. */
  send(body: Body<'sendEmail'>, options?: RequestOptions): Promise<QueuedEmail> {
    return this.data('sendEmail', { body }, options);
  }

  /** Sends up to 100 emails, all or none. */
  batch(body: Body<'sendEmails'>, options?: RequestOptions): Promise<QueuedEmail[]> {
    return this.data('sendEmails', { body }, options);
  }

  /** Transactional emails, or the messages of a campaign, newest first. */
  list(query: Query<'listEmails'> = {}, options?: RequestOptions): List<Email> {
    return this.listOf('listEmails', { query }, options);
  }

  /** An email with its events. */
  get(id: string, options?: RequestOptions): Promise<EmailDetail> {
    return this.data('getEmail', { path: { id } }, options);
  }

  /** Moves a scheduled email to another time. */
  reschedule(id: string, body: Body<'rescheduleEmail'>, options?: RequestOptions): Promise<EmailDetail> {
    return this.data('rescheduleEmail', { path: { id }, body }, options);
  }

  /** Cancels the parts of an email that have not been sent. */
  cancel(id: string, options?: RequestOptions): Promise<EmailDetail> {
    return this.data('cancelEmail', { path: { id } }, options);
  }
}

/** A campaign after an action on some of its recipients, and their number. */
export interface RecipientsResult {
  campaign: CampaignDetail;
  recipients: number;
}

async function recipientsResult(
  response: Promise<{ data: CampaignDetail; recipients: number }>,
): Promise<RecipientsResult> {
  const { data, recipients } = await response;
  return { campaign: data, recipients };
}

export class Campaigns extends Resource {
  list(query: Query<'listCampaigns'> = {}, options?: RequestOptions): List<Campaign> {
    return this.listOf('listCampaigns', { query }, options);
  }

  /** Creates a draft. */
  create(body: Body<'createCampaign'>, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('createCampaign', { body }, options);
  }

  get(id: string, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('getCampaign', { path: { id } }, options);
  }

  update(id: string, body: Body<'updateCampaign'>, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('updateCampaign', { path: { id }, body }, options);
  }

  /** Deletes a draft. */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteCampaign', { path: { id } }, options);
  }

  /** Starts a campaign now; its messages are sent in the background. */
  send(id: string, options?: RequestOptions): Promise<DataOf<'sendCampaign'>> {
    return this.data('sendCampaign', { path: { id } }, options);
  }

  /** Schedules a campaign for an instant (`scheduled_at`), or for the local time of each recipient (`local_time`). */
  schedule(id: string, body: Body<'scheduleCampaign'>, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('scheduleCampaign', { path: { id }, body }, options);
  }

  /** Turns a scheduled campaign back into a draft. */
  unschedule(id: string, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('unscheduleCampaign', { path: { id } }, options);
  }

  pause(id: string, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('pauseCampaign', { path: { id } }, options);
  }

  resume(id: string, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('resumeCampaign', { path: { id } }, options);
  }

  /** Cancels a campaign; unsent messages are never sent. */
  cancel(id: string, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('cancelCampaign', { path: { id } }, options);
  }

  /** Acknowledges the results that blocked a campaign's sender, which may then send again. */
  acknowledge(id: string, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('acknowledgeCampaign', { path: { id } }, options);
  }

  /** Sends the current content of a campaign to a few test addresses. */
  test(id: string, body: Body<'testCampaign'>, options?: RequestOptions): Promise<DataOf<'testCampaign'>> {
    return this.data('testCampaign', { path: { id }, body }, options);
  }

  /** Shows what sending the campaign now would do; changes nothing. */
  preflight(id: string, options?: RequestOptions): Promise<Preflight> {
    return this.data('getCampaignPreflight', { path: { id } }, options);
  }

  /** The recipients of a campaign, optionally filtered by state. */
  recipients(
    id: string,
    query: Query<'listCampaignRecipients'> = {},
    options?: RequestOptions,
  ): List<CampaignRecipient> {
    return this.listOf('listCampaignRecipients', { path: { id }, query }, options);
  }

  /** The recipients that pass a filter, as a stream of a CSV file. */
  exportRecipients(
    id: string,
    query: Query<'exportCampaignRecipients'> = {},
    options?: RequestOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    return this.transport.call('exportCampaignRecipients', { path: { id }, query }, options);
  }

  /** Creates a group from the recipients that pass a filter. */
  createGroup(
    id: string,
    body: Body<'createGroupFromRecipients'>,
    options?: RequestOptions,
  ): Promise<DataOf<'createGroupFromRecipients'>> {
    return this.data('createGroupFromRecipients', { path: { id }, body }, options);
  }

  /** The tracked links of a campaign, with clicks by humans and bots. */
  links(id: string, options?: RequestOptions): Promise<DataOf<'listCampaignLinks'>> {
    return this.data('listCampaignLinks', { path: { id } }, options);
  }

  /** Retries recipients that were rejected, either all or those named; `recipients` is the count. */
  retry(id: string, body: Body<'retryCampaignRecipients'> = {}, options?: RequestOptions): Promise<RecipientsResult> {
    return recipientsResult(this.transport.call('retryCampaignRecipients', { path: { id }, body }, options));
  }

  /** Resends to recipients with unknown outcome. Some of them may receive it twice. */
  resend(id: string, body: Body<'resendCampaignRecipients'>, options?: RequestOptions): Promise<RecipientsResult> {
    return recipientsResult(this.transport.call('resendCampaignRecipients', { path: { id }, body }, options));
  }

  /** Records the outcome of recipients with unknown outcome, without sending. */
  resolve(id: string, body: Body<'resolveCampaignRecipients'>, options?: RequestOptions): Promise<RecipientsResult> {
    return recipientsResult(this.transport.call('resolveCampaignRecipients', { path: { id }, body }, options));
  }
}

export class Templates extends Resource {
  list(query: Query<'listTemplates'> = {}, options?: RequestOptions): List<Template> {
    return this.listOf('listTemplates', { query }, options);
  }

  /** Creates a template as a draft. */
  create(body: Body<'createTemplate'>, options?: RequestOptions): Promise<Template> {
    return this.data('createTemplate', { body }, options);
  }

  get(id: string, options?: RequestOptions): Promise<Template> {
    return this.data('getTemplate', { path: { id } }, options);
  }

  update(id: string, body: Body<'updateTemplate'>, options?: RequestOptions): Promise<Template> {
    return this.data('updateTemplate', { path: { id }, body }, options);
  }

  /** Publishes a template, so that it can be sent. */
  publish(id: string, options?: RequestOptions): Promise<Template> {
    return this.data('publishTemplate', { path: { id } }, options);
  }

  /** The versions of a template, newest first. Each save and each publication adds one. */
  versions(id: string, query: Query<'listTemplateVersions'> = {}, options?: RequestOptions): List<TemplateVersion> {
    return this.listOf('listTemplateVersions', { path: { id }, query }, options);
  }

  getVersion(id: string, versionId: string, options?: RequestOptions): Promise<TemplateVersion> {
    return this.data('getTemplateVersion', { path: { id, version_id: versionId } }, options);
  }

  /** Restores the content of a version as a new version. */
  restoreVersion(id: string, versionId: string, options?: RequestOptions): Promise<Template> {
    return this.data('restoreTemplateVersion', { path: { id, version_id: versionId } }, options);
  }

  /** Discards the draft of a published template. */
  discardDraft(id: string, options?: RequestOptions): Promise<void> {
    return this.done('discardTemplateDraft', { path: { id } }, options);
  }

  /** Sends the template to up to a few addresses, filled in as for a contact. */
  test(id: string, body: Body<'testTemplate'>, options?: RequestOptions): Promise<DataOf<'testTemplate'>> {
    return this.data('testTemplate', { path: { id }, body }, options);
  }

  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteTemplate', { path: { id } }, options);
  }
}
