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
  /** Sends a transactional email. A key of scope `sending` may do this. */
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

  /** An email and what has happened to it. */
  get(id: string, options?: RequestOptions): Promise<EmailDetail> {
    return this.data('getEmail', { path: { id } }, options);
  }

  /** Moves a scheduled email to another time. */
  reschedule(id: string, body: Body<'rescheduleEmail'>, options?: RequestOptions): Promise<EmailDetail> {
    return this.data('rescheduleEmail', { path: { id }, body }, options);
  }

  /** Stops what has not gone out of an email. */
  cancel(id: string, options?: RequestOptions): Promise<EmailDetail> {
    return this.data('cancelEmail', { path: { id } }, options);
  }
}

/** A campaign after a decision about some of its recipients, and how many they were. */
export interface RecipientsDecided {
  campaign: CampaignDetail;
  recipients: number;
}

async function decided(answer: Promise<{ data: CampaignDetail; recipients: number }>): Promise<RecipientsDecided> {
  const { data, recipients } = await answer;
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

  /** Starts a campaign now; its messages go out in the background. */
  send(id: string, options?: RequestOptions): Promise<DataOf<'sendCampaign'>> {
    return this.data('sendCampaign', { path: { id } }, options);
  }

  schedule(id: string, body: Body<'scheduleCampaign'>, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('scheduleCampaign', { path: { id }, body }, options);
  }

  /** Makes a scheduled campaign a draft again. */
  unschedule(id: string, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('unscheduleCampaign', { path: { id } }, options);
  }

  pause(id: string, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('pauseCampaign', { path: { id } }, options);
  }

  resume(id: string, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('resumeCampaign', { path: { id } }, options);
  }

  /** Ends a campaign; what has not gone out never will. */
  cancel(id: string, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('cancelCampaign', { path: { id } }, options);
  }

  /** Says that somebody has seen why a campaign's results block its sender, which may send again. */
  acknowledge(id: string, options?: RequestOptions): Promise<CampaignDetail> {
    return this.data('acknowledgeCampaign', { path: { id } }, options);
  }

  /** Sends a campaign as it is now to a few addresses. */
  test(id: string, body: Body<'testCampaign'>, options?: RequestOptions): Promise<DataOf<'testCampaign'>> {
    return this.data('testCampaign', { path: { id }, body }, options);
  }

  /** What would happen if the campaign were sent now; changes nothing. */
  preflight(id: string, options?: RequestOptions): Promise<Preflight> {
    return this.data('getCampaignPreflight', { path: { id } }, options);
  }

  /** The recipients of a campaign, by state if you like. */
  recipients(
    id: string,
    query: Query<'listCampaignRecipients'> = {},
    options?: RequestOptions,
  ): List<CampaignRecipient> {
    return this.listOf('listCampaignRecipients', { path: { id }, query }, options);
  }

  /** The tracked links of a campaign, with clicks by people and by programs. */
  links(id: string, options?: RequestOptions): Promise<DataOf<'listCampaignLinks'>> {
    return this.data('listCampaignLinks', { path: { id } }, options);
  }

  /** Sends again to recipients who were refused, all or those named; `recipients` is how many. */
  retry(id: string, body: Body<'retryCampaignRecipients'> = {}, options?: RequestOptions): Promise<RecipientsDecided> {
    return decided(this.transport.call('retryCampaignRecipients', { path: { id }, body }, options));
  }

  /** Sends again to recipients whose outcome is unknown. Some of them may get it twice. */
  resend(id: string, body: Body<'resendCampaignRecipients'>, options?: RequestOptions): Promise<RecipientsDecided> {
    return decided(this.transport.call('resendCampaignRecipients', { path: { id }, body }, options));
  }

  /** Says what became of recipients whose outcome is unknown; nothing is sent. */
  resolve(id: string, body: Body<'resolveCampaignRecipients'>, options?: RequestOptions): Promise<RecipientsDecided> {
    return decided(this.transport.call('resolveCampaignRecipients', { path: { id }, body }, options));
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

  /** Makes a template ready to be sent. */
  publish(id: string, options?: RequestOptions): Promise<Template> {
    return this.data('publishTemplate', { path: { id } }, options);
  }

  /** What it said each time that it was saved or published, newest first. */
  versions(id: string, query: Query<'listTemplateVersions'> = {}, options?: RequestOptions): List<TemplateVersion> {
    return this.listOf('listTemplateVersions', { path: { id }, query }, options);
  }

  getVersion(id: string, versionId: string, options?: RequestOptions): Promise<TemplateVersion> {
    return this.data('getTemplateVersion', { path: { id, version_id: versionId } }, options);
  }

  /** Makes it say again what it said in a version, as a new version. */
  restoreVersion(id: string, versionId: string, options?: RequestOptions): Promise<Template> {
    return this.data('restoreTemplateVersion', { path: { id, version_id: versionId } }, options);
  }

  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteTemplate', { path: { id } }, options);
  }
}
