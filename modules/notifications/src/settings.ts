import { db } from '@postroom/platform';

/** How a person is notified. */
export interface Settings {
  /** Whether notifications are emailed to them. */
  emails: boolean;
}

/** A person's settings, in all their projects. */
export async function getSettings(userId: string): Promise<Settings> {
  const settings = await db.notificationSettings.findUnique({ where: { userId } });
  return { emails: settings?.emails ?? true };
}

/** Changes a person's settings. */
export async function updateSettings(userId: string, settings: Settings): Promise<void> {
  await db.notificationSettings.upsert({ where: { userId }, create: { userId, ...settings }, update: settings });
}
