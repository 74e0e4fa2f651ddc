// How the tests ask the operations of this folder.
import type { Tenant } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { made, type Samples, suppressed } from '../../../test/sample.ts'

let count = 0
const invitation = () => ({ email: `grace${++count}@people.example`, role: 'member' })

/** The secret of a new invitation's link. */
export async function invitationToken({ ask }: Tenant): Promise<string> {
	const { url } = (await ask('POST', '/api/invitations', { body: invitation() })).body
	return url.split('#')[1]
}

/** The secret of an invitation by somebody who was removed since. */
async function ended(tenant: Tenant): Promise<string> {
	const [inviter] = [await tenant.newPerson(), await tenant.newPerson()]
	const token = await invitationToken({ ...tenant, ask: inviter.ask })
	await tenant.ask('DELETE', `/api/users/${inviter.id}`)
	return token
}

const joining = async (tenant: Tenant) => ({
	token: await invitationToken(tenant),
	name: 'Grace',
	password: secret('password'),
})

/** Removes all admins but one. */
async function lastAdmin({ ask, newPerson }: Tenant): Promise<string> {
	const { id: last } = await newPerson()
	const { data } = (await ask('GET', '/api/users?limit=100')).body
	for (const { id, role } of data) if (role === 'admin' && id !== last) await ask('DELETE', `/api/users/${id}`)
	return last
}

const member = async (tenant: Tenant) => {
	await tenant.newPerson()
	return (await tenant.newPerson('member')).id
}

export const samples: Samples = {
	users: {
		make: member,
		body: async () => ({ name: 'Grace Hopper', role: 'manager' }),
		rejected: { last_admin: async (tenant) => ({ id: await lastAdmin(tenant), body: { role: 'member' } }) },
	},
	invitations: {
		make: (tenant) => made(tenant, '/api/invitations', invitation()),
		body: async () => invitation(),
		rejected: {
			email_taken: async (tenant) => ({ body: { email: (await tenant.newPerson()).email, role: 'member' } }),
			recipient_suppressed: async (tenant) => {
				const body = invitation()
				const id = await made(tenant, '/api/invitations', body)
				await suppressed(tenant, body.email)
				return { id, body }
			},
			too_many_invitations: async (tenant) => {
				await Promise.all(Array.from({ length: 100 }, () => invitationToken(tenant)))
				return {}
			},
		},
	},
	'invitations.show': {
		body: async (tenant) => ({ token: await invitationToken(tenant) }),
		rejected: { invitation_ended: async (tenant) => ({ body: { token: await ended(tenant) } }) },
	},
	'invitations.accept': {
		body: joining,
		rejected: {
			email_taken: async (tenant) => {
				const body = await joining(tenant)
				await tenant.newPerson('member', `grace${count}@people.example`)
				return { body }
			},
			invitation_ended: async (tenant) => ({ body: { ...(await joining(tenant)), token: await ended(tenant) } }),
		},
	},
}
