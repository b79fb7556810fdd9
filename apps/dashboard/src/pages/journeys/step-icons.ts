import {
  IconArrowsSplit2,
  IconBell,
  IconBolt,
  IconCalendarTime,
  IconForms,
  IconGitBranch,
  IconHourglass,
  IconLogout,
  IconMail,
  IconQuestionMark,
  IconUserMinus,
  IconUserPlus,
  IconWebhook,
} from '@tabler/icons-react';
import type { Step, StepType } from './definition-types.ts';
import { isKnownType } from './step-types.ts';

export const STEP_ICONS: Record<StepType, typeof IconMail> = {
  send: IconMail,
  wait: IconHourglass,
  wait_until: IconCalendarTime,
  wait_for_event: IconBolt,
  condition: IconGitBranch,
  split: IconArrowsSplit2,
  update_field: IconForms,
  join_group: IconUserPlus,
  leave_group: IconUserMinus,
  notify: IconBell,
  webhook: IconWebhook,
  exit: IconLogout,
};

export const stepIconOf = ({ type }: Pick<Step, 'type'>): typeof IconMail =>
  isKnownType(type) ? STEP_ICONS[type] : IconQuestionMark;
