import {
  IconAddressBook,
  IconAt,
  IconBan,
  IconBolt,
  IconFileImport,
  IconFileText,
  IconFilter,
  IconForms,
  IconHistory,
  IconHome,
  IconKey,
  IconListDetails,
  IconMail,
  IconRoute,
  IconSend,
  IconSettings,
  IconSitemap,
  IconUsers,
  IconUsersGroup,
  IconWebhook,
  IconWorldCheck,
} from '@tabler/icons-react';
import type { Permission } from './permissions.ts';

export interface NavItem {
  label: string;
  /** The route path of the page. */
  to: string;
  /** The route path of other pages that belong to it. */
  also?: string;
  icon: typeof IconKey;
  /** The required permission; none if omitted. */
  needs?: Permission;
  /** Search keywords for the command palette. */
  keywords?: string;
}

/** The pages of a project, for the sidebar and the command palette. */
export const NAVIGATION: { heading: string; places: NavItem[] }[] = [
  {
    heading: '',
    places: [{ label: 'Home', to: '/p/$projectId', icon: IconHome, keywords: 'overview statistics dashboard start' }],
  },
  {
    heading: 'Send',
    places: [
      {
        label: 'Campaigns',
        to: '/p/$projectId/campaigns',
        also: '/p/$projectId/ab-tests',
        icon: IconSend,
        keywords: 'newsletter mailing broadcast',
      },
      {
        label: 'Journeys',
        to: '/p/$projectId/journeys',
        icon: IconSitemap,
        keywords: 'automation drip sequence workflow welcome series',
      },
      { label: 'Templates', to: '/p/$projectId/templates', icon: IconFileText, keywords: 'html content design' },
      { label: 'Emails', to: '/p/$projectId/emails', icon: IconMail, keywords: 'transactional log messages' },
    ],
  },
  {
    heading: 'Audience',
    places: [
      { label: 'Contacts', to: '/p/$projectId/contacts', icon: IconAddressBook, keywords: 'people subscribers list' },
      { label: 'Imports', to: '/p/$projectId/imports', icon: IconFileImport, keywords: 'csv upload file excel' },
      {
        label: 'Forms',
        to: '/p/$projectId/forms',
        icon: IconForms,
        keywords: 'subscribe sign up double opt-in embed',
      },
      { label: 'Groups', to: '/p/$projectId/groups', icon: IconUsersGroup, keywords: 'lists members' },
      { label: 'Segments', to: '/p/$projectId/segments', icon: IconFilter, keywords: 'filter conditions' },
      {
        label: 'Custom fields',
        to: '/p/$projectId/fields',
        icon: IconListDetails,
        keywords: 'attributes properties schema',
      },
      {
        label: 'Events',
        to: '/p/$projectId/events',
        icon: IconBolt,
        keywords: 'custom track activity behavior properties schema',
      },
      {
        label: 'Suppressions',
        to: '/p/$projectId/suppressions',
        icon: IconBan,
        keywords: 'unsubscribed bounced blocklist',
      },
    ],
  },
  {
    heading: 'Settings',
    places: [
      { label: 'Domains', to: '/p/$projectId/domains', icon: IconWorldCheck, keywords: 'dns dkim spf dmarc sender' },
      {
        label: 'Sending',
        to: '/p/$projectId/sending',
        icon: IconRoute,
        needs: 'manage',
        keywords: 'provider relay smtp amazon ses rate limit bounce complaint pause',
      },
      {
        label: 'Mailbox accounts',
        to: '/p/$projectId/mailboxes',
        icon: IconAt,
        keywords: 'gmail google microsoft outlook smtp oauth',
      },
      { label: 'Webhooks', to: '/p/$projectId/webhooks', icon: IconWebhook, keywords: 'endpoints deliveries events' },
      { label: 'API keys', to: '/p/$projectId/keys', icon: IconKey, needs: 'manage', keywords: 'secret token' },
      { label: 'Members', to: '/p/$projectId/members', icon: IconUsers, keywords: 'people roles invitations team' },
      { label: 'Project', to: '/p/$projectId/settings', icon: IconSettings, keywords: 'name id' },
      {
        label: 'Audit log',
        to: '/p/$projectId/audit',
        icon: IconHistory,
        needs: 'manage',
        keywords: 'history changes',
      },
    ],
  },
];
