import { fieldError } from '../base/errors.ts'
import { companies } from '../companies/store.ts'
import type { Db } from '../db/database.ts'
import type { Handler } from '../http/handler.ts'
import { answersOf, removed } from '../http/record-handlers.ts'
import { contacts, insertContact } from './store.ts'

const answers = answersOf(contacts, { name: 'contact', notFound: 'contact_not_found', path: '/api/contacts' })

export const list: Handler<'contacts.list'> = answers.list

export const get: Handler<'contacts.get'> = answers.get

export const create: Handler<'contacts.create'> = async ({ body, caller }, { db, now }) => {
	await refuseUnknownCompany(db, caller.organizationId, body.companyId)
	return answers.created(await insertContact(db, caller.organizationId, body, now))
}

export const update: Handler<'contacts.update'> = async (call, { db, now }) => {
	const contact = await answers.lock(call, db)
	const { body } = call
	if (body.companyId !== contact.companyId) await refuseUnknownCompany(db, contact.organizationId, body.companyId)
	return answers.changed(await contacts.update(db, contact, body, now))
}

export const remove: Handler<'contacts.delete'> = async (call, { db, now }) => {
	await contacts.update(db, await answers.lock(call, db), { deletedAt: now }, now)
	return removed
}

async function refuseUnknownCompany(db: Db, organizationId: string, companyId: string | null | undefined): Promise<void> {
	if (companyId && !(await companies.exists(db, organizationId, companyId))) {
		throw fieldError('unknown_company', '/companyId', `There is no company ${companyId}.`)
	}
}
