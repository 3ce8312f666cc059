"""Words by the names that Java Faker has for them, where the package ``faker`` has none."""

from __future__ import annotations

_LISTS = """
animal.name: alligator, ant, badger, bat, bear, beaver, bee, bison, camel, cat, cheetah, cow, crane, crow, deer, dog,
  dolphin, duck, eagle, elephant, falcon, ferret, fox, frog, giraffe, goat, goose, hamster, hare, hawk, hedgehog,
  horse, kangaroo, koala, lemur, lion, llama, lynx, mole, monkey, moose, mouse, otter, owl, panda, penguin, pig,
  rabbit, rat, raven, seal, shark, sheep, skunk, snail, spider, squirrel, swan, tiger, turtle, walrus, whale, wolf,
  wombat, zebra
beer.name: Chimay Red, Duvel, Guinness, Orval, Pilsner Urquell, Sierra Nevada Pale Ale, Trappistes Rochefort 10,
  Westmalle
beer.brand: Becks, Budweiser, Carlsberg, Corona, Guinness, Heineken, Paulaner, Stella Artois
beer.style: Amber Ale, Bock, IPA, Lager, Pilsner, Porter, Stout, Wheat Beer
book.genre: Biography, Classic, Comic, Crime, Essay, Fable, Fairy Tale, Fantasy, Legend, Mystery, Poetry, Science
  Fiction
book.title: Beloved, Don Quixote, Dracula, Emma, Frankenstein, Hamlet, Jane Eyre, Middlemarch, Moby Dick, Persuasion,
  The Odyssey, The Trial, Ulysses, Walden, War and Peace
commerce.brand: Acme, Adidas, Apple, Bosch, Dell, Ikea, Lego, Nike, Panasonic, Philips, Puma, Samsung, Siemens, Sony
commerce.department: Automotive, Baby, Beauty, Books, Clothing, Computers, Electronics, Games, Garden, Grocery,
  Health, Home, Jewelry, Kids, Movies, Music, Outdoors, Shoes, Sports, Tools, Toys
commerce.material: Aluminum, Bronze, Concrete, Copper, Cotton, Granite, Iron, Leather, Linen, Marble, Paper, Plastic,
  Rubber, Silk, Steel, Wool
commerce.vendor: Amazon, Argos, Costco, Dollar General, Lidl, Target, Tesco, Walgreens, Walmart
commerce.$adjective: Aerodynamic, Durable, Enormous, Ergonomic, Fantastic, Heavy Duty, Incredible, Intelligent,
  Practical, Rustic, Sleek, Small, Synergistic
commerce.$product: Bag, Bench, Bottle, Car, Chair, Clock, Coat, Computer, Gloves, Hat, Keyboard, Knife, Lamp, Pants,
  Plate, Shirt, Shoes, Table, Wallet, Watch
commerce.promotioncode: AwesomeDeal, CoolSavings, GreatCode, PremiumDiscount, SpecialPrice, StellarPromo
company.industry: Automotive, Banking, Biotechnology, Chemicals, Construction, Education, Insurance, Logistics, Media,
  Mining, Pharmaceuticals, Retail, Semiconductors, Software, Telecommunications, Textiles, Tourism, Utilities
device.manufacturer: Apple, Dell, Google, HP, Huawei, Lenovo, Nokia, Samsung, Sony, Xiaomi
device.modelname: Galaxy S22, Mate 40, Moto G, Nokia 3310, Pixel 7, Xperia 5, iPhone 13, iPhone SE
device.platform: Android, BlackBerry, Linux, Windows, iOS
educator.course: Bachelor of Arts, Bachelor of Science, Diploma in Nursing, Master of Engineering, Master of Laws
esport.game: CS:GO, Dota 2, League of Legends, Overwatch, Rocket League, StarCraft II, Valorant
esport.team: Astralis, Cloud9, FaZe Clan, Fnatic, G2, Natus Vincere, T1, Team Liquid
food.dish: Biryani, Caesar Salad, Dumplings, Fish and Chips, Goulash, Lasagne, Paella, Pho, Pizza, Ramen, Risotto,
  Tacos
food.fruit: Apples, Apricots, Bananas, Cherries, Dates, Figs, Grapes, Kiwi, Lemons, Mango, Melon, Oranges, Pears,
  Plums
food.ingredient: Almonds, Basil, Butter, Chickpeas, Cream, Eggs, Flour, Garlic, Honey, Lentils, Olive Oil, Rice, Sugar
food.spice: Basil, Cardamom, Chilli, Cinnamon, Cloves, Cumin, Ginger, Nutmeg, Oregano, Paprika, Pepper, Saffron,
  Turmeric
food.vegetable: Artichoke, Aubergine, Beetroot, Broccoli, Carrot, Celery, Cucumber, Fennel, Kale, Leek, Onion, Peas,
  Spinach
gameofthrones.character: Arya Stark, Brienne of Tarth, Cersei Lannister, Daenerys Targaryen, Eddard Stark, Jaime
  Lannister, Jon Snow, Petyr Baelish, Samwell Tarly, Sansa Stark, Theon Greyjoy, Tyrion Lannister, Varys
gameofthrones.city: Braavos, King's Landing, Meereen, Oldtown, Pentos, Qarth, Volantis, White Harbor
gameofthrones.dragon: Balerion, Drogon, Meraxes, Rhaegal, Vhagar, Viserion
gameofthrones.house: Arryn, Baratheon, Bolton, Frey, Greyjoy, Lannister, Martell, Stark, Targaryen, Tully, Tyrell
gender.types: Female, Male, Non-binary
gender.binarytypes: Female, Male
greekphilosopher.name: Anaxagoras, Anaximander, Archimedes, Aristotle, Democritus, Diogenes, Empedocles, Epicurus,
  Heraclitus, Parmenides, Plato, Plotinus, Protagoras, Pythagoras, Socrates, Thales, Xenophanes, Zeno of Elea
greekphilosopher.quote: Know thyself, Knowledge is power, Nothing endures but change, To live is not merely to breathe
hacker.abbreviation: AI, API, CSS, FTP, GB, HDD, HTTP, JSON, PCI, RAM, SCSI, SMTP, SQL, SSL, TCP, XML
hacker.adjective: auxiliary, back-end, bluetooth, cross-platform, digital, haptic, mobile, multi-byte, neural, online,
  open-source, optical, primary, redundant, solid state, virtual, wireless
hacker.noun: alarm, application, array, bandwidth, bus, capacitor, card, circuit, driver, feed, firewall, hard drive,
  interface, matrix, microchip, monitor, panel, pixel, port, program, protocol, sensor, system, transmitter
hacker.verb: back up, bypass, calculate, compress, connect, copy, generate, hack, index, input, navigate, override,
  parse, program, quantify, reboot, synthesize, transmit
harrypotter.book: Harry Potter and the Chamber of Secrets, Harry Potter and the Deathly Hallows, Harry Potter and the
  Goblet of Fire, Harry Potter and the Half-Blood Prince, Harry Potter and the Order of the Phoenix, Harry Potter and
  the Philosopher's Stone, Harry Potter and the Prisoner of Azkaban
harrypotter.character: Albus Dumbledore, Bellatrix Lestrange, Cedric Diggory, Cho Chang, Dobby, Draco Malfoy, Ginny
  Weasley, Harry Potter, Hermione Granger, Lord Voldemort, Luna Lovegood, Minerva McGonagall, Neville Longbottom,
  Peter Pettigrew, Remus Lupin, Ron Weasley, Rubeus Hagrid, Severus Snape, Sirius Black
harrypotter.house: Gryffindor, Hufflepuff, Ravenclaw, Slytherin
harrypotter.location: Azkaban, Diagon Alley, Godric's Hollow, Gringotts, Hogsmeade, Hogwarts, Knockturn Alley, Leaky
  Cauldron, Little Whinging, Ministry of Magic, Platform 9 3/4, Shrieking Shack, The Burrow, The Forbidden Forest
harrypotter.quote: After all this time? Always., Mischief managed, Turn to page 394, Yer a wizard Harry
harrypotter.spell: Accio, Alohomora, Avada Kedavra, Confundo, Crucio, Expecto Patronum, Expelliarmus, Finite
  Incantatem, Imperio, Levicorpus, Lumos, Obliviate, Petrificus Totalus, Protego, Reparo, Riddikulus, Sectumsempra,
  Stupefy, Wingardium Leviosa
hitchhikersguidetothegalaxy.character: Arthur Dent, Deep Thought, Eddie, Ford Prefect, Marvin, Slartibartfast,
  Trillian, Zaphod Beeblebrox
hitchhikersguidetothegalaxy.location: Barnard's Star, Betelgeuse, Cottington, Islington, Kakrafoon, Lord's Cricket
  Ground, Milliways, Stavromula Beta
hitchhikersguidetothegalaxy.planet: Damogran, Earth, Krikkit, Magrathea, Traal, Vogsphere
hitchhikersguidetothegalaxy.quote: Don't Panic, Mostly harmless, So long and thanks for all the fish
hitchhikersguidetothegalaxy.starship: Bistromath, Heart of Gold, Krikkit One, Starship Titanic, Vogon Constructor
  Fleet
job.field: Accounting, Advertising, Banking, Construction, Consulting, Design, Education, Farming, Government,
  Healthcare, Hospitality, IT, Legal, Manufacturing, Marketing, Mining, Retail, Sales, Technology
job.keyskills: Communication, Leadership, Organisation, Problem solving, Self-motivated, Teamwork, Technical savvy
job.position: Administrator, Agent, Analyst, Architect, Associate, Consultant, Coordinator, Designer, Developer,
  Director, Engineer, Executive, Manager, Officer, Planner, Producer, Specialist, Strategist, Supervisor, Technician
job.seniority: Central, Chief, Corporate, District, Dynamic, Future, Global, Internal, International, Junior, Lead,
  National, Product, Regional, Senior
lordoftherings.character: Aragorn, Arwen, Bilbo Baggins, Boromir, Elrond, Eowyn, Faramir, Frodo Baggins, Galadriel,
  Gandalf, Gimli, Gollum, Legolas, Merry Brandybuck, Pippin Took, Sam Gamgee, Saruman, Sauron, Theoden, Treebeard
lordoftherings.location: Bree, Edoras, Fangorn, Helm's Deep, Hobbiton, Isengard, Lothlorien, Minas Tirith, Moria,
  Mordor, Rivendell, The Shire
music.genre: Blues, Classical, Country, Electronic, Folk, Funk, Hip Hop, Jazz, Latin, Metal, Pop, Reggae, Rock, Soul
music.instrument: Accordion, Bassoon, Cello, Clarinet, Drums, Electric Guitar, Flute, Harmonica, Harp, Oboe, Piano,
  Saxophone, Trombone, Trumpet, Ukulele, Viola, Violin
nation.nationality: Americans, Australians, Brazilians, Canadians, Chinese, Danes, Egyptians, Finns, French, Germans,
  Greeks, Indians, Irish, Italians, Japanese, Kenyans, Mexicans, Norwegians, Poles, Spaniards, Swedes, Turks
nation.capitalcity: Ankara, Athens, Berlin, Brasilia, Cairo, Canberra, Copenhagen, Dublin, Helsinki, Lima, London,
  Madrid, Nairobi, New Delhi, Oslo, Ottawa, Paris, Rome, Stockholm, Tokyo, Vienna, Warsaw, Washington
pokemon.name: Arbok, Blastoise, Bulbasaur, Charizard, Charmander, Eevee, Gengar, Jigglypuff, Mew, Mewtwo, Pikachu,
  Pidgeot, Snorlax, Squirtle, Vaporeon, Zapdos
pokemon.location: Celadon City, Cerulean City, Cinnabar Island, Lavender Town, Pallet Town, Pewter City, Saffron City
rickandmorty.character: Beth Smith, Birdperson, Jerry Smith, Morty Smith, Mr. Meeseeks, Rick Sanchez, Squanchy, Summer
  Smith, Unity
rickandmorty.location: Abadango, Anatomy Park, Citadel of Ricks, Dimension C-137, Earth, Gazorpazorp, Interdimensional
  Cable
rickandmorty.quote: Get schwifty, Show me what you got, Wubba lubba dub dub
robin.quote: Holy Alphabet!, Holy Astronomy!, Holy Bat Trap!, Holy Clockwork!, Holy Rainbow!, Holy Smoke!
space.agency: Canadian Space Agency, ESA, ISRO, JAXA, NASA, Roscosmos
space.constellation: Andromeda, Aquarius, Cassiopeia, Cygnus, Draco, Gemini, Leo, Lyra, Orion, Pegasus, Perseus,
  Scorpius
space.galaxy: Andromeda, Black Eye Galaxy, Cartwheel Galaxy, Milky Way, Sombrero Galaxy, Triangulum, Whirlpool Galaxy
space.moon: Callisto, Deimos, Enceladus, Europa, Ganymede, Io, Luna, Phobos, Rhea, Titan, Triton
space.nasaspacecraft: Atlantis, Challenger, Columbia, Discovery, Endeavour, Enterprise, Gemini, Mercury, Orion
space.nebula: Cat's Eye Nebula, Crab Nebula, Eagle Nebula, Helix Nebula, Horsehead Nebula, Orion Nebula, Ring Nebula
space.planet: Earth, Jupiter, Mars, Mercury, Neptune, Saturn, Uranus, Venus
space.star: Aldebaran, Altair, Antares, Arcturus, Betelgeuse, Capella, Deneb, Polaris, Procyon, Rigel, Sirius, Vega
space.starcluster: Beehive, Hyades, Jewel Box, Messier 13, Omega Centauri, Pleiades, Wild Duck
starwars.character: Boba Fett, C-3PO, Chewbacca, Darth Vader, Han Solo, Lando Calrissian, Leia Organa, Luke Skywalker,
  Obi-Wan Kenobi, R2-D2, Yoda
starwars.planets: Alderaan, Bespin, Coruscant, Dagobah, Endor, Hoth, Kashyyyk, Mustafar, Naboo, Tatooine
superhero.descriptor: Agent, Bionic, Captain, Cyborg, Doctor, Flying, Giant, Green, Magnificent, Night, Red, Silver,
  Ultra
superhero.$noun: Arrow, Atom, Bolt, Falcon, Fist, Flash, Hawk, Hornet, Knight, Lantern, Panther, Phantom, Raven, Wolf
superhero.power: Agility, Camouflage, Cold Resistance, Danger Sense, Duplication, Elasticity, Energy Beams, Flight,
  Force Fields, Invisibility, Levitation, Mind Control, Phasing, Shapeshifting, Stealth, Super Strength, Super Speed,
  Telekinesis, Telepathy, Time Travel, Weather Control, X-Ray Vision
team.sport: baseball, basketball, football, handball, hockey, lacrosse, rugby, soccer, volleyball, water polo
team.creature: ants, bats, bears, bees, birds, buffalo, cats, eagles, foxes, hawks, lions, owls, rabbits, sharks,
  wolves
university.name: Northern Institute, South Coast University, University of Eastern Plains, West Lake College,
  University of North Harbor, The Central Academy
weather.description: Blizzard, Cloudy, Drizzle, Fog, Hail, Heavy rain, Mist, Overcast, Partly cloudy, Showers, Sleet,
  Snow, Sunny, Thunderstorms, Windy
"""


def _read(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for entry in text.replace("\n  ", " ").strip().splitlines():
        name, _, words = entry.partition(": ")
        found[name] = tuple(part.strip() for part in words.split(", ") if part.strip())
    return found


WORDS = _read(_LISTS)
"""By names in small letters, without ``_``; a name with ``$`` is only a part of others."""
