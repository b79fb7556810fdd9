export { addContacts, createGroup, deleteGroup, getGroup, listGroups, updateGroup } from './groups.ts';
