// How the tests ask the operations of this folder.
import type { Tenant } from '../../test/harness.ts'
import { secret } from '../../test/leaks.ts'
import { made, type Samples } from '../../test/sample.ts'

let count = 0
const invitation = () => ({ email: `grace${++count}@people.example`, role: 'member' })

/** The secret of a new invitation's link. */
export async function invitationToken({ ask }: Tenant): Promise<string> {
	const { url } = (await ask('POST', '/api/invitations', { body: invitation() })).body
	return url.split('#')[1]
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
		contradicting: async (tenant) => ({ id: await lastAdmin(tenant), body: { role: 'member' } }),
	},
	invitations: {
		make: (tenant) => made(tenant, '/api/invitations', invitation()),
		body: async () => invitation(),
	},
	'invitations.show': { body: async (tenant) => ({ token: await invitationToken(tenant) }) },
	'invitations.accept': {
		body: joining,
		contradicting: async (tenant) => {
			const body = await joining(tenant)
			await tenant.newPerson('member', `grace${count}@people.example`)
			return { body }
		},
	},
}
