import { expect, inject, it } from 'vitest'
import { findReplanned } from './replans.ts'

it('statements that SQLite plans again at every run are found, and no others', () => {
	const again = [
		'select id from invoices where "organizationId" = +? and status = +? order by "createdAt" desc, id desc limit ?',
		'select id from invoices where "organizationId" = ? and status = ? order by "createdAt" desc, id desc limit 10',
	]
	const once = again.map((sql) => sql.replaceAll(' ?', ' +?'))
	expect(findReplanned(inject('template'), [...again, ...once])).toEqual(again)
})
