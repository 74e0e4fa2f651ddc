import { expect, it } from 'vitest'
import { linkToNext } from './link.ts'

it.each([
	['/api/deals', '</api/deals?cursor=a.b>; rel="next"'],
	['/api/deals?limit=5&offset=10&stage=won', '</api/deals?limit=5&stage=won&cursor=a.b>; rel="next"'],
	['/api/companies?search=M%C3%BCller%20%3E&cursor=old', '</api/companies?search=M%C3%BCller+%3E&cursor=a.b>; rel="next"'],
])('the link of %s keeps its filters', (url, link) => {
	expect(linkToNext(url, 'a.b')).toBe(link)
})
