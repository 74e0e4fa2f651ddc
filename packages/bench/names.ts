// Companies with realistic names: a search for the beginning of a word finds about twenty of two thousand.
import type { CompanyCreate } from '../server/src/generated/contract.ts'

const first =
	`Acorn Albatross Alpine Amber Anchor Apex Arbor Arctic Aspen Atlas Aurora Banyan Bastion Beacon Birch Bluebird Boreal
Bridgewater Bright Brook Calder Canyon Cardinal Cascade Cedar Chestnut Cinder Citadel Clearwater Cobalt Compass Copper Coral
Cornerstone Crescent Cypress Dahlia Delta Drift Eastgate Echo Elmwood Ember Evergreen Falcon Ferris Fjord Foxglove Frost Garnet
Glacier Goldfinch Granite Grove Harbor Hawthorn Hazel Heron Hickory Highland Horizon Indigo Ironwood Ivory Jasper Juniper Keystone
Kestrel Lagoon Lantern Larch Laurel Lighthouse Linden Magnolia Maple Meridian Midland Monarch Mosaic Nimbus Northwind Oakridge
Obsidian Onyx Orchard Osprey Palisade Peregrine Pinnacle Quarry Redwood Ridge Sable Sequoia Sparrow Summit Thornbury Vantage Willow Wren
Yarrow Zephyr`.split(/\s+/)

const second = `Analytics Architects Bakery Builders Capital Ceramics Consulting Design Dynamics Engineering Films Foods Logistics
Media Optics Partners Robotics Software Textiles Ventures`.split(/\s+/)

const forms = ['GmbH', 'Ltd', 'Inc', 'SAS', 'AB']
const cities = ['Berlin', 'Lyon', 'Malmö', 'Porto', 'Leeds', 'Denver']

/** The n-th company; the first two thousand have different names. */
export function companyOf(n: number): CompanyCreate {
	const word = first[n % first.length] as string
	const trade = second[Math.floor(n / first.length) % second.length] as string
	const domain = `${word}-${trade}-${n}.example`.toLowerCase()
	return {
		name: `${word} ${trade} ${forms[n % forms.length]}`,
		domain,
		phone: n % 3 === 0 ? `+49 30 ${5_550_000 + n}` : null,
		billingAddressLine1: `${1 + (n % 140)} Market Street`,
		billingCity: cities[n % cities.length],
		billingPostalCode: String(10_000 + n),
		billingCountry: 'Germany',
		billingEmail: `billing@${domain}`,
	}
}

/** Beginnings of names, as a user types them. */
export const searches = first.filter((_, index) => index % 7 === 0).map((word) => word.slice(0, 5).toLowerCase())
