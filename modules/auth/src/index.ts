export { bootstrap } from './bootstrap.ts';
export { ADDRESS_HEADER, auth, AUTH_PATH } from './auth.ts';
export { acceptInvitation, invite, listInvitations, previewInvitation, withdrawInvitation } from './invitations.ts';
export { changeRole, listMembers, removeMember } from './members.ts';
export { authenticateUser, UserCaller, PERMISSIONS, type Role } from './caller.ts';
export { handleSignIn } from './sign-in.ts';
export { deleteOldSignInRates } from './sign-in-rates.ts';
export { canSendSystemMail, sendSystemMail } from './system-mail.ts';
export { createFirstOwner, createUser } from './users.ts';
