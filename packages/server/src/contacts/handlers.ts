import type { Handler } from '../api.ts'
import { companyExists } from '../companies/store.ts'
import type { Db } from '../db.ts'
import { ApiError, fieldError } from '../errors.ts'
import { etag } from '../etag.ts'
import type { Contact, PageMeta } from '../generated/contract.ts'
import { dataText, listText } from '../json.ts'
import { contacts, insertContact } from './store.ts'

const notFound = (id: string) => new ApiError('contact_not_found', `There is no contact ${id}.`)

export const list: Handler<'contacts.list'> = async ({ query, caller }, { db }) => {
	const { rows, total } = await contacts.list(db, caller.organizationId, query)
	return { status: 200, body: listText<Contact, PageMeta>(rows, { total, limit: query.limit, offset: query.offset }) }
}

export const create: Handler<'contacts.create'> = async ({ body, caller }, { db, now }) => {
	await refuseUnknownCompany(db, caller.organizationId, body.companyId)
	const { id, version } = await insertContact(db, caller.organizationId, body, now)
	return { status: 201, headers: { Location: `/api/contacts/${id}`, ETag: etag(version) }, body: { id } }
}

export const get: Handler<'contacts.get'> = async ({ params, caller }, { db }) => {
	const contact = await contacts.find(db, caller.organizationId, params.id)
	if (!contact) throw notFound(params.id)
	return { status: 200, headers: { ETag: etag(contact.version) }, body: dataText<Contact>(contact.json) }
}

export const update: Handler<'contacts.update'> = async ({ params, body, caller, expectVersion }, { db, now }) => {
	const contact = await lock(db, caller.organizationId, params.id, expectVersion)
	if (body.companyId !== contact.companyId) await refuseUnknownCompany(db, caller.organizationId, body.companyId)
	const { version } = await contacts.update(db, contact, body, now)
	return { status: 200, headers: { ETag: etag(version) }, body: { ok: true } }
}

export const remove: Handler<'contacts.delete'> = async ({ params, caller, expectVersion }, { db, now }) => {
	const contact = await lock(db, caller.organizationId, params.id, expectVersion)
	await contacts.update(db, contact, { deletedAt: now }, now)
	return { status: 200, body: { ok: true } }
}

async function lock(db: Db, organizationId: string, id: string, expectVersion: (version: number) => void): Promise<Contact> {
	const contact = await contacts.lock(db, organizationId, id)
	if (!contact) throw notFound(id)
	expectVersion(contact.version)
	return contact
}

async function refuseUnknownCompany(db: Db, organizationId: string, companyId: string | null | undefined): Promise<void> {
	if (companyId && !(await companyExists(db, organizationId, companyId))) {
		throw fieldError('unknown_company', '/companyId', `There is no company ${companyId}.`)
	}
}
