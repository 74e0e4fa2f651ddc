// What other contexts may use of this one.

export { createKey, findOwner, listKeys, revokeKey } from './api-keys/store.ts'
export { findLogo, markLogoUsed } from './organizations/logo-store.ts'
export {
	createOrganization,
	findOrganization,
	listDemoOrganizations,
	listOrganizationRows,
	listOrganizations,
	lockOrganization,
	markAsDemo,
	requireOrganization,
} from './organizations/store.ts'
export { createInvitation } from './people/invitation-store.ts'
export { invitationPath, resetPath } from './people/links.ts'
export { canAnybodySignIn, createPerson, listByAddress, lockPeople, requireFreeAddress } from './people/store.ts'
export { enterByIdentity } from './sessions/openid.ts'
export { storeReset } from './sessions/password-store.ts'
export { setupPath } from './sessions/setup.ts'
